import type { AudioConverter } from '@svc-asr/sdk/audio';
import type { Decoders } from '../audio/decoders.ts';
import { createRawConverter, isWav } from '../audio/raw.ts';
import { toSamples } from '../transcribe.ts';
import type { ListenAudio } from './parameters.ts';
import { PieceQueue } from './piece-queue.ts';

/** Turns a client's audio into 16 kHz samples. */
export interface ListenInput {
  /** Resolves when more can be taken. */
  push(bytes: Buffer): Promise<void>;
  /** Resolves when all audio has been written, or never will be. */
  end(): Promise<void>;
}

const RATE_HZ = 16_000;

export interface InputTarget {
  readonly write: (samples: Int16Array) => Promise<void>;
  readonly decoders: Decoders;
  /** Whose audio it is. */
  readonly account: string;
  readonly signal: AbortSignal;
  /** The audio can't be decoded. */
  readonly onFailure: (error: unknown) => void;
}

export function openInput(audio: ListenAudio, target: InputTarget): ListenInput {
  if (audio === 'container') return new ContainerInput(target);
  const { encoding, sampleRateHz, channels } = audio;
  const isOurs = encoding === 'pcm_s16le' && sampleRateHz === RATE_HZ && channels === 1;
  const raw = isOurs ? new PcmInput(target) : new RawInput(createRawConverter(audio), target);
  return new NamedInput(raw, new ContainerInput(target));
}

/** Audio whose encoding was named. It can be a WAV file all the same. */
class NamedInput implements ListenInput {
  readonly #raw: ListenInput;
  readonly #container: ListenInput;
  #chosen: ListenInput | null = null;

  constructor(raw: ListenInput, container: ListenInput) {
    this.#raw = raw;
    this.#container = container;
  }

  push(bytes: Buffer): Promise<void> {
    this.#chosen ??= isWav(bytes) ? this.#container : this.#raw;
    return this.#chosen.push(bytes);
  }

  async end(): Promise<void> {
    await this.#chosen?.end();
  }
}

/** Samples that need no conversion, which most agents send. Frames may be cut inside a sample. */
class PcmInput implements ListenInput {
  readonly #target: InputTarget;
  #carried = Buffer.alloc(0);

  constructor(target: InputTarget) {
    this.#target = target;
  }

  push(bytes: Buffer): Promise<void> {
    const joined = this.#carried.byteLength === 0 ? bytes : Buffer.concat([this.#carried, bytes]);
    const even = joined.byteLength - (joined.byteLength % 2);
    this.#carried = Buffer.from(joined.subarray(even));
    return this.#target.write(toSamples(joined.subarray(0, even)));
  }

  end(): Promise<void> {
    return Promise.resolve();
  }
}

class RawInput implements ListenInput {
  readonly #converter: AudioConverter;
  readonly #target: InputTarget;

  constructor(converter: AudioConverter, target: InputTarget) {
    this.#converter = converter;
    this.#target = target;
  }

  push(bytes: Buffer): Promise<void> {
    return this.#target.write(this.#converter.push(bytes));
  }

  end(): Promise<void> {
    return this.#target.write(this.#converter.end());
  }
}

/** Starts its decoder with the first audio. */
class ContainerInput implements ListenInput {
  readonly #target: InputTarget;
  readonly #pieces = new PieceQueue();
  #decoding: Promise<void> | null = null;

  constructor(target: InputTarget) {
    this.#target = target;
  }

  async push(bytes: Buffer): Promise<void> {
    this.#decoding ??= this.#decode();
    await this.#pieces.push(bytes);
  }

  async end(): Promise<void> {
    this.#pieces.end();
    await this.#decoding;
  }

  async #decode(): Promise<void> {
    const { decoders, account, signal, write, onFailure } = this.#target;
    let leave: (() => void) | null = null;
    // The decoder reads to the end, which nobody sends after a hang-up.
    const hangUp = (): void => this.#pieces.abandon();
    signal.addEventListener('abort', hangUp, { once: true });
    if (signal.aborted) hangUp();
    try {
      leave = await decoders.admit(account, signal);
      const options = { account, signal, isLive: true };
      for await (const pcm of decoders.decode(this.#pieces, options)) {
        await write(toSamples(pcm));
      }
    } catch (error) {
      onFailure(error);
    }
    leave?.();
    signal.removeEventListener('abort', hangUp);
    this.#pieces.abandon();
  }
}
