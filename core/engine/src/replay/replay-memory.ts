import { AUDIO } from '@svc-asr/protocol/constants.ts';

/** One second of audio. */
export const BLOCK_BYTES = AUDIO.sampleRateHz * AUDIO.bytesPerSample;
/** Blocks kept for reuse (8 MB); the garbage collector gets the rest. */
const IDLE_BLOCKS_MAX = 256;

/** The memory that all replay buffers of a process share. */
export class ReplayMemory {
  readonly #blocksMax: number;
  readonly #idle: Buffer[] = [];
  #used = 0;

  constructor(bytesMax: number) {
    this.#blocksMax = Math.floor(bytesMax / BLOCK_BYTES);
  }

  get bytes(): number {
    return this.#used * BLOCK_BYTES;
  }

  /** Whether less than half is used. */
  get hasRoom(): boolean {
    return this.#used < this.#blocksMax / 2;
  }

  /** Returns null when the limit is reached. */
  take(): Buffer | null {
    if (this.#used >= this.#blocksMax) return null;
    this.#used += 1;
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  give(blocks: readonly Buffer[]): void {
    this.#used -= blocks.length;
    this.#idle.push(...blocks.slice(0, IDLE_BLOCKS_MAX - this.#idle.length));
  }
}
