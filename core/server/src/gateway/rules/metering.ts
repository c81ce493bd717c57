import { AUDIO } from '@svc-asr/protocol';

/** Counts accepted samples, on which billing is based. */
export interface Meter {
  readonly limitSamples: number;
  readonly acceptedSamples: number;
  /** The first samples, which the client's lost session was charged for. */
  readonly replayedSamples: number;
  /** Frames form one byte stream. An odd byte waits here for its other half. */
  readonly carriedByte: number | null;
}

export interface Accepted {
  readonly meter: Meter;
  /** Returns whole samples, cut at the limit. Empty if the frame completed none. */
  readonly pcm: Uint8Array;
}

const SAMPLES_PER_MS = AUDIO.sampleRateHz / 1000;
const NOTHING = new Uint8Array(0);

export function createMeter(reservedMs: number): Meter {
  const limitSamples = reservedMs * SAMPLES_PER_MS;
  return { limitSamples, acceptedSamples: 0, replayedSamples: 0, carriedByte: null };
}

export function acceptAudio(meter: Meter, frame: Uint8Array): Accepted {
  const room = meter.limitSamples - meter.acceptedSamples;
  if (room === 0 || frame.byteLength === 0) return { meter, pcm: NOTHING };
  const bytes = meter.carriedByte === null ? frame : prepend(meter.carriedByte, frame);
  const samples = Math.min(room, bytes.byteLength >> 1);
  const isOdd = samples < room && (bytes.byteLength & 1) === 1;
  return {
    meter: {
      limitSamples: meter.limitSamples,
      replayedSamples: meter.replayedSamples,
      acceptedSamples: meter.acceptedSamples + samples,
      carriedByte: isOdd ? (bytes[bytes.byteLength - 1] ?? null) : null,
    },
    pcm: bytes.byteLength === samples * 2 ? bytes : bytes.subarray(0, samples * 2),
  };
}

export function isFull(meter: Meter): boolean {
  return meter.acceptedSamples >= meter.limitSamples;
}

export function remainingMs(meter: Meter): number {
  return Math.ceil((meter.limitSamples - meter.acceptedSamples) / SAMPLES_PER_MS);
}

/** Rounded up, so that accepted audio is never under-reported. */
export function audioMs(samples: number): number {
  return Math.ceil(samples / SAMPLES_PER_MS);
}

/** Converts a sample position to milliseconds for display. */
export function momentMs(samples: number): number {
  return Math.floor(samples / SAMPLES_PER_MS);
}

/** Rounded up to whole seconds once a session, and never more than was reserved. Replayed audio was charged before. */
export function billableMs(meter: Meter, samples: number): number {
  const unpaid = Math.max(0, samples - meter.replayedSamples);
  const wholeSeconds = Math.ceil(unpaid / AUDIO.sampleRateHz) * 1000;
  return Math.min(meter.limitSamples / SAMPLES_PER_MS, wholeSeconds);
}

function prepend(first: number, rest: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(rest.byteLength + 1);
  bytes[0] = first;
  bytes.set(rest, 1);
  return bytes;
}
