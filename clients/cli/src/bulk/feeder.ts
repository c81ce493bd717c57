import { VoiceGate } from '@svc-asr/sdk/audio';
import type { SvcStream } from '@svc-asr/sdk/stream';

/** How long silence is still sent before it is left out. */
const HOLD_MS = 700;
/** A turn ends after this silence. Shorter than the silence that is still sent, so the service detects the pause. */
export const TURN_SILENCE_MS = 600;
const SAMPLES_PER_MS = 16;

/**
 * Waits for the first audio before returning the same audio, or null if there is none. Callers create the session
 * afterwards: a session for a file without audio, or for a microphone that doesn't open, would block the account for a
 * minute.
 */
export async function afterFirstAudio(
  audio: AsyncIterable<Uint8Array>,
): Promise<AsyncIterable<Uint8Array> | null> {
  const source = audio[Symbol.asyncIterator]();
  const first = await source.next();
  if (first.done === true) return null;
  return (async function* () {
    try {
      yield first.value;
      for (let next = await source.next(); next.done !== true; next = await source.next()) {
        yield next.value;
      }
    } finally {
      await source.return?.();
    }
  })();
}

/** Leaves out the first part of 16 kHz audio, to the sample. ffmpeg's own seeking is not exact in every format. */
export async function* audioFrom(
  audio: AsyncIterable<Uint8Array>,
  fromMs: number,
): AsyncGenerator<Uint8Array> {
  let bytesToDrop = fromMs * SAMPLES_PER_MS * 2;
  for await (const bytes of audio) {
    const rest = bytes.subarray(Math.min(bytesToDrop, bytes.length));
    bytesToDrop -= bytes.length - rest.length;
    if (rest.length > 0) yield rest;
  }
}

/** Where a feeder sends audio. */
export type AudioSink = Pick<SvcStream, 'write' | 'skip'>;

/** Writes audio to a stream and, if asked, leaves out long silence. */
export class Feeder {
  /** How much audio was read. */
  passedMs = 0;
  /** How much audio was sent. */
  sentMs = 0;
  /** How far the stream's time advanced: audio sent and silence skipped. */
  streamMs = 0;
  readonly #stream: AudioSink;
  readonly #skipSilence: boolean;
  readonly #gate = new VoiceGate({ holdMs: HOLD_MS });
  #oddByte: Uint8Array = new Uint8Array(0);

  constructor(stream: AudioSink, options: { skipSilence: boolean }) {
    this.#stream = stream;
    this.#skipSilence = options.skipSilence;
  }

  async push(bytes: Uint8Array): Promise<void> {
    const samples = this.#wholeSamples(bytes);
    this.passedMs += samples.length / SAMPLES_PER_MS;
    if (this.#skipSilence) await this.#follow(this.#gate.push(samples));
    else await this.#send(samples);
  }

  async end(): Promise<void> {
    if (this.#skipSilence) await this.#follow(this.#gate.end());
  }

  async #follow(output: ReturnType<VoiceGate['push']>): Promise<void> {
    for (const step of output) {
      if (step.do === 'send') await this.#send(step.samples);
      else {
        this.#stream.skip(step.ms);
        this.streamMs += step.ms;
      }
    }
  }

  async #send(samples: Int16Array): Promise<void> {
    const ms = samples.length / SAMPLES_PER_MS;
    this.sentMs += ms;
    this.streamMs += ms;
    await this.#stream.write(samples);
  }

  #wholeSamples(bytes: Uint8Array): Int16Array {
    const joined = new Uint8Array(this.#oddByte.length + bytes.length);
    joined.set(this.#oddByte);
    joined.set(bytes, this.#oddByte.length);
    const even = joined.length - (joined.length % 2);
    this.#oddByte = joined.slice(even);
    return new Int16Array(joined.buffer, 0, even / 2);
  }
}
