import { VoiceGate, type GateOutput } from '@svc-asr/sdk/audio';
import type { FinalEvent, SvcStream, Transcript, Word } from '@svc-asr/sdk/stream';
import { endStream } from './end-stream.ts';
import type { CompatibleMetrics } from './metrics.ts';
import type { DoorName } from './metrics.ts';

/** A turn ends after this silence, at every door: how much silence the recogniser hears can change its text. */
export const TURN_SILENCE_MS = 700;
const BYTES_PER_MS = 32;
const SAMPLES_PER_MS = 16;
/** A second is sent for each whole minute of one silence: hours of it in a small file would be decoded for nothing. */
const SILENCE_PER_PAID_SECOND_MS = 60_000;

/** The transcript of a whole file. Times are from its start. */
export interface FileTranscript {
  readonly text: string;
  /** One per turn. */
  readonly finals: readonly FinalEvent[];
  readonly words: readonly Word[];
  readonly durationMs: number;
  /** What the service charged. Null if a connection was lost and only the service knows. */
  readonly billedMs: number | null;
}

/**
 * Sends decoded audio to a stream as fast as the service takes it, without long silences, and returns the transcript. The
 * stream is opened after the first audio was decoded, so that a broken file needs no session.
 */
export async function transcribe(input: {
  /** 16 kHz mono PCM. */
  readonly pcm: AsyncGenerator<Buffer, void>;
  /** The silence that ends a turn. Longer silence is not sent. */
  readonly silenceMs: number;
  readonly open: () => Promise<SvcStream>;
  readonly onFinal?: (final: FinalEvent) => void;
  readonly metrics: CompatibleMetrics;
  readonly door: DoorName;
}): Promise<FileTranscript> {
  const { pcm, metrics, door } = input;
  let durationMs = 0;
  let stream: SvcStream | null = null;
  try {
    const sender = new SpeechSender(input.silenceMs);
    for await (const frame of pcm) {
      stream ??= await opened(input.open, input.onFinal);
      durationMs += frame.byteLength / BYTES_PER_MS;
      await sender.push(stream, toSamples(frame));
    }
    stream ??= await opened(input.open, input.onFinal);
    await sender.end(stream);
    const { text, finals, words, sessions } = await stream.finish();
    const billedMs = billedMsOf(sessions);
    metrics.count('svc_compatible_billed_seconds_total', { door }, (billedMs ?? 0) / 1000);
    const turns = finals.filter((final) => final.text !== '');
    return { text, finals: turns, words, durationMs: Math.round(durationMs), billedMs };
  } finally {
    metrics.count('svc_compatible_audio_seconds_total', { door }, durationMs / 1000);
    if (stream !== null) await endStream(stream);
  }
}

async function opened(
  open: () => Promise<SvcStream>,
  onFinal: (final: FinalEvent) => void = () => undefined,
): Promise<SvcStream> {
  const stream = await open();
  stream.on('final', onFinal);
  return stream;
}

/** Sends the speech of a file. */
class SpeechSender {
  readonly #gate: VoiceGate;
  #quietMs = 0;
  /** Of the silence that the gate will skip. */
  #paidMs = 0;

  constructor(holdMs: number) {
    this.#gate = new VoiceGate({ holdMs });
  }

  async push(stream: SvcStream, samples: Int16Array): Promise<void> {
    const outputs = this.#gate.push(samples);
    await this.#send(stream, outputs);
    this.#quietMs = outputs.length > 0 ? 0 : this.#quietMs + samples.length / SAMPLES_PER_MS;
    if (this.#quietMs < SILENCE_PER_PAID_SECOND_MS) return;
    this.#quietMs = 0;
    this.#paidMs += 1_000;
    await stream.write(new Int16Array(1_000 * SAMPLES_PER_MS));
  }

  async end(stream: SvcStream): Promise<void> {
    await this.#send(stream, this.#gate.end());
  }

  /** Sends what the gate passes in one piece: it works in windows of 20 ms, and every frame costs the service time. */
  async #send(stream: SvcStream, outputs: readonly GateOutput[]): Promise<void> {
    let passed: Int16Array[] = [];
    for (const output of outputs) {
      if (output.do === 'send') {
        passed.push(output.samples);
        continue;
      }
      await write(stream, passed);
      passed = [];
      stream.skip(output.ms - this.#paidMs);
      this.#paidMs = 0;
    }
    await write(stream, passed);
  }
}

async function write(stream: SvcStream, pieces: readonly Int16Array[]): Promise<void> {
  if (pieces.length === 0) return;
  const joined = new Int16Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  await stream.write(joined);
}

/** What the service charged for a stream. Null if a connection was lost and only the service knows. */
export function billedMsOf(sessions: Transcript['sessions']): number | null {
  const bills = sessions.map(({ billableMs }) => billableMs);
  return bills.includes(null) ? null : bills.reduce<number>((sum, bill) => sum + (bill ?? 0), 0);
}

/** A copy, because a view of 16-bit samples must begin at an even address. */
export function toSamples(bytes: Uint8Array): Int16Array {
  const copy = Uint8Array.from(bytes);
  return new Int16Array(copy.buffer, 0, copy.byteLength / 2);
}
