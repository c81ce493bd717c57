import type { FileHandle } from 'node:fs/promises';
import { decodeFile } from '@svc-asr/runtime/decode-audio.ts';
import { spool, type Room, type SpooledFile } from '@svc-asr/runtime/spool-audio.ts';
import { Budget } from '../budget.ts';
import type { Limits } from '../config.ts';
import type { CompatibleMetrics, DecodeOutcome } from '../metrics.ts';
import { busy, Refusal, toRefusal } from '../refusal.ts';

interface FileOwner {
  /** Whose budget the file counts against. */
  readonly account: string;
  /** Audio that is still being recorded: decode each piece when it arrives, and wait for the next one without a limit. */
  readonly isLive?: boolean;
}

export interface DecodeOptions extends FileOwner {
  /** Ends the decoder at once. */
  readonly signal: AbortSignal;
}

interface Waiter {
  readonly account: string;
  readonly start: () => void;
}

const TOO_MANY = busy('too_many_files', 'This server is decoding too many files. Try again.');
const TOO_MANY_OF_ACCOUNT = busy(
  'too_many_files',
  'Too many files of this account at once. Wait until some are done, then try again.',
  429,
);
const NO_DISK = busy('too_many_files', 'This server has no room for more files. Try again.');
const NO_DISK_FOR_ACCOUNT = busy(
  'too_many_files',
  'The files of this account need too much room at once. Wait until some are done, then try again.',
  429,
);

/** Decodes files and containers with ffmpeg, a limited number at once. Slots and bytes on the disk belong to accounts. */
export class Decoders {
  readonly #ffmpeg: string;
  readonly #limits: Limits;
  readonly #metrics: CompatibleMetrics;
  readonly #slots: Budget;
  readonly #disk: Budget;
  readonly #waiters: Waiter[] = [];
  #running = 0;

  constructor(input: {
    readonly ffmpeg: string;
    readonly limits: Limits;
    readonly metrics: CompatibleMetrics;
  }) {
    const { limits } = input;
    this.#ffmpeg = input.ffmpeg;
    this.#limits = limits;
    this.#metrics = input.metrics;
    this.#slots = new Budget({ total: limits.decoders, perAccount: limits.decodersPerAccount });
    this.#disk = new Budget({ total: limits.diskBytes, perAccount: limits.diskBytesPerAccount });
    input.metrics.gauge('svc_compatible_decoders', () => this.#running);
    input.metrics.gauge('svc_compatible_disk_bytes', () => this.#disk.sum);
  }

  /**
   * Waits for a slot for one file of an account. Throws if there is none for too long. A free slot goes to the account that
   * holds the fewest. Call the returned function when the file is done.
   */
  async admit(account: string, signal: AbortSignal): Promise<() => void> {
    if (!this.#slots.allows(account, 1)) throw TOO_MANY_OF_ACCOUNT;
    if (!this.#slots.take(account, 1)) await this.#turn(account, signal);
    let isHere = true;
    return () => {
      if (!isHere) return;
      isHere = false;
      this.#slots.give(account, 1);
      this.#startNext();
    };
  }

  /** Writes a file to the disk. Throws if the account or this program has no room for it. */
  spool(source: AsyncIterable<Uint8Array>, owner: FileOwner): Promise<SpooledFile> {
    return spool(source, this.#room(owner));
  }

  /**
   * Yields 16 kHz mono PCM, 16-bit little-endian, in frames of 100 ms. Decodes at the pace of the reader with bounded
   * memory. A file of `spool` stays open. Throws an `AudioFileError` for audio that is unreadable or too long.
   */
  async *decode(
    source: AsyncIterable<Uint8Array> | FileHandle,
    options: DecodeOptions,
  ): AsyncGenerator<Buffer, void> {
    this.#running += 1;
    let outcome: DecodeOutcome = 'aborted';
    try {
      const { audioMs, idleMs } = this.#limits;
      yield* decodeFile(source, {
        ...options,
        ffmpeg: this.#ffmpeg,
        spool: (bytes) => this.spool(bytes, options),
        audioMs,
        stallMs: idleMs,
      });
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

  /** Resolves with the slot taken. */
  async #turn(account: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { account, start: resolve };
    const leave = (): void => reject(signal.aborted ? signal.reason : TOO_MANY);
    const timer = setTimeout(leave, this.#limits.sessionWaitMs);
    signal.addEventListener('abort', leave, { once: true });
    this.#waiters.push(waiter);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      const at = this.#waiters.indexOf(waiter);
      if (at !== -1) this.#waiters.splice(at, 1);
    }
  }

  #startNext(): void {
    const held = ({ account }: Waiter): number => this.#slots.heldBy(account);
    const waiting = this.#waiters.filter(({ account }) => this.#slots.allows(account, 1));
    const [next] = waiting.toSorted((a, b) => held(a) - held(b));
    if (next === undefined || !this.#slots.take(next.account, 1)) return;
    this.#waiters.splice(this.#waiters.indexOf(next), 1);
    next.start();
  }

  #room({ account, isLive = false }: FileOwner): Room {
    const { bodyBytes, liveFileBytes } = this.#limits;
    const bytesMax = isLive ? liveFileBytes : bodyBytes;
    let taken = 0;
    return {
      take: (bytes) => {
        if (taken + bytes > bytesMax) throw tooLarge(bytesMax);
        if (!this.#disk.take(account, bytes)) {
          throw this.#disk.allows(account, bytes) ? NO_DISK : NO_DISK_FOR_ACCOUNT;
        }
        taken += bytes;
      },
      giveAll: () => {
        this.#disk.give(account, taken);
        taken = 0;
      },
    };
  }
}

function tooLarge(bytes: number): Refusal {
  return new Refusal({
    status: 413,
    code: 'file_too_large',
    message: `The file is larger than ${bytes / 1_000_000} MB. Send it in parts, or as OGG or WebM.`,
    param: 'file',
  });
}
