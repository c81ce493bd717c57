import { VoiceGate } from '@svc-asr/sdk/audio';
import { openStream, type GetSession, type SvcStream, type Transcript } from '@svc-asr/sdk/stream';

export interface TranscribeInput {
  readonly audio: AsyncIterable<Uint8Array>;
  readonly getSession: GetSession;
  readonly skipSilence: boolean;
  readonly signal: AbortSignal;
  readonly onStream?: (stream: SvcStream) => void;
  readonly onSent?: (ms: number) => void;
}

/** An utterance is ended at a pause, but not before it is this long: finals that are sentences, not scraps. */
const UTTERANCE_MS_MIN = 3_000;
const PAUSE_MS = 700;

/** The end came too early. What was final by then is paid for, so it is handed on. */
export class BrokenOff extends Error {
  readonly transcript: Transcript;
  constructor(cause: unknown, transcript: Transcript) {
    super('The transcript is not whole.', { cause });
    this.name = 'BrokenOff';
    this.transcript = transcript;
  }
}

/** Audio to the end, one utterance after the other. */
export async function transcribe(input: TranscribeInput): Promise<Transcript> {
  const audio = await whenHeard(input.audio);
  const stream = openStream({ getSession: input.getSession, signal: input.signal });
  input.onStream?.(stream);
  const feeder = new Feeder(stream, input);
  try {
    for await (const bytes of audio) {
      await feeder.push(bytes);
      input.onSent?.(feeder.passedMs);
    }
    await feeder.end();
    return await stream.finish();
  } catch (error) {
    throw stream.transcript.text === '' ? error : new BrokenOff(error, stream.transcript);
  } finally {
    await stream.close();
  }
}

/**
 * The same audio, once there is some. A session is asked for after that: one that is reserved for a file without
 * sound, or a microphone that does not open, would keep the account waiting for a minute.
 */
export async function whenHeard(
  audio: AsyncIterable<Uint8Array>,
): Promise<AsyncIterable<Uint8Array>> {
  const source = audio[Symbol.asyncIterator]();
  const first = await source.next();
  return (async function* () {
    try {
      for (let next = first; next.done !== true; next = await source.next()) yield next.value;
    } finally {
      await source.return?.();
    }
  })();
}

/** Feeds a stream, ends utterances in pauses and, if wished, leaves long silence out. */
export class Feeder {
  passedMs = 0;
  readonly #stream: SvcStream;
  readonly #skipSilence: boolean;
  readonly #gate = new VoiceGate({ holdMs: PAUSE_MS });
  #utteranceMs = 0;
  #odd: Uint8Array = new Uint8Array(0);

  constructor(stream: SvcStream, options: { skipSilence: boolean }) {
    this.#stream = stream;
    this.#skipSilence = options.skipSilence;
  }

  async push(bytes: Uint8Array): Promise<void> {
    const samples = this.#wholeSamples(bytes);
    this.passedMs += samples.length / 16;
    const wasOpen = this.#gate.isOpen;
    const output = this.#gate.push(samples);
    if (this.#skipSilence) await this.#follow(output);
    else await this.#send(samples);
    if (wasOpen && !this.#gate.isOpen && this.#utteranceMs >= UTTERANCE_MS_MIN) this.#flush();
  }

  async end(): Promise<void> {
    if (this.#skipSilence) await this.#follow(this.#gate.end());
  }

  async #follow(output: ReturnType<VoiceGate['push']>): Promise<void> {
    for (const step of output) {
      if (step.do === 'send') await this.#send(step.samples);
      else this.#stream.skip(step.ms);
    }
  }

  async #send(samples: Int16Array): Promise<void> {
    this.#utteranceMs += samples.length / 16;
    await this.#stream.write(samples);
  }

  #flush(): void {
    this.#utteranceMs = 0;
    // Its final comes as an event; a failure is told by finish().
    this.#stream.flush().catch(() => {});
  }

  #wholeSamples(bytes: Uint8Array): Int16Array {
    const joined = new Uint8Array(this.#odd.length + bytes.length);
    joined.set(this.#odd);
    joined.set(bytes, this.#odd.length);
    const even = joined.length - (joined.length % 2);
    this.#odd = joined.slice(even);
    return new Int16Array(joined.buffer, 0, even / 2);
  }
}
