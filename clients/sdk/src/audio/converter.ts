import { mixToMono, toPcm16 } from './pcm.ts';
import { Resampler } from './resampler.ts';
import { bytesPerSample, decodeSamples, type SampleEncoding } from './samples.ts';

export interface SourceFormat {
  readonly encoding: SampleEncoding;
  readonly sampleRateHz: number;
  /** Default 1. */
  readonly channels?: number;
}

/**
 * Converts raw audio of any rate, width and channel count to 16 kHz mono PCM for a stream. Chunks may be cut
 * anywhere, even inside a sample.
 *
 * ```ts
 * const telephone = new AudioConverter({ encoding: 'mulaw', sampleRateHz: 8000 });
 * await stream.write(telephone.push(payload));
 * ```
 */
export class AudioConverter {
  readonly #encoding: SampleEncoding;
  readonly #channels: number;
  readonly #resampler: Resampler;
  #carried = new Uint8Array(0);

  constructor(format: SourceFormat) {
    this.#encoding = format.encoding;
    this.#channels = format.channels ?? 1;
    this.#resampler = new Resampler(format.sampleRateHz);
  }

  push(bytes: Uint8Array): Int16Array {
    const frame = bytesPerSample(this.#encoding) * this.#channels;
    const joined = new Uint8Array(this.#carried.byteLength + bytes.byteLength);
    joined.set(this.#carried);
    joined.set(bytes, this.#carried.byteLength);
    const whole = joined.byteLength - (joined.byteLength % frame);
    this.#carried = joined.slice(whole);
    const samples = decodeSamples(joined.subarray(0, whole), this.#encoding);
    return toPcm16(this.#resampler.push(mixToMono(samples, this.#channels)));
  }

  /** Returns the last few milliseconds, which the resampler still holds. */
  end(): Int16Array {
    return toPcm16(this.#resampler.end());
  }
}
