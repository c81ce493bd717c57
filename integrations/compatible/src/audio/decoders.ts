import type { FileHandle } from 'node:fs/promises';
import type { Limits } from '../config.ts';
import type { CompatibleMetrics, DecodeOutcome } from '../metrics.ts';
import { busy, toRefusal } from '../refusal.ts';
import { decodeFile } from './decode.ts';

export interface DecodeOptions {
  /** Ends the decoder at once. */
  readonly signal: AbortSignal;
  /** Audio that is still being recorded: decode each piece when it arrives, and wait for the next one without a limit. */
  readonly isLive?: boolean;
}

const TOO_MANY = busy('too_many_files', 'This server is decoding too many files. Try again.');
const TOO_MANY_WITH_KEY = busy(
  'too_many_files',
  'Too many files at once with this API key. Wait until some are done, then try again.',
  429,
);

/** Decodes files and containers with ffmpeg, a limited number at once. */
export class Decoders {
  readonly #ffmpeg: string;
  readonly #limits: Limits;
  readonly #metrics: CompatibleMetrics;
  readonly #owners = new Map<string, number>();
  #admitted = 0;
  #running = 0;

  constructor(input: {
    readonly ffmpeg: string;
    readonly limits: Limits;
    readonly metrics: CompatibleMetrics;
  }) {
    this.#ffmpeg = input.ffmpeg;
    this.#limits = input.limits;
    this.#metrics = input.metrics;
    input.metrics.gauge('svc_compatible_decoders', () => this.#running);
  }

  /** Makes room for one file of a caller. Throws if there is none. Call the returned function when the file is done. */
  admit(ownerId: string): () => void {
    const owned = this.#owners.get(ownerId) ?? 0;
    if (this.#admitted >= this.#limits.decoders) throw TOO_MANY;
    if (owned >= this.#limits.decodersPerKey) throw TOO_MANY_WITH_KEY;
    this.#admitted += 1;
    this.#owners.set(ownerId, owned + 1);
    let isHere = true;
    return () => {
      if (!isHere) return;
      isHere = false;
      this.#admitted -= 1;
      const left = (this.#owners.get(ownerId) ?? 1) - 1;
      if (left === 0) this.#owners.delete(ownerId);
      else this.#owners.set(ownerId, left);
    };
  }

  /**
   * Yields 16 kHz mono PCM, 16-bit little-endian, in frames of 100 ms. Decodes at the pace of the reader with bounded
   * memory. A file of `spool` stays open. Throws a `Refusal` for audio that is unreadable or too long.
   */
  async *decode(
    source: AsyncIterable<Uint8Array> | FileHandle,
    options: DecodeOptions,
  ): AsyncGenerator<Buffer, void> {
    this.#running += 1;
    let outcome: DecodeOutcome = 'aborted';
    try {
      const { audioMs, idleMs } = this.#limits;
      yield* decodeFile(source, { ...options, ffmpeg: this.#ffmpeg, audioMs, stallMs: idleMs });
      outcome = 'decoded';
    } catch (error) {
      if (!options.signal.aborted)
        outcome = toRefusal(error).status === 413 ? 'limit' : 'unreadable';
      throw error;
    } finally {
      this.#metrics.count('svc_compatible_decodes_total', { outcome });
      this.#running -= 1;
    }
  }
}
