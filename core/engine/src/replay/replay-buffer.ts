import { BLOCK_BYTES, type ReplayMemory } from './replay-memory.ts';

/** The audio of one utterance, kept until its final arrives. */
export class ReplayBuffer {
  readonly #memory: ReplayMemory;
  #blocks: Buffer[] = [];
  #bytes = 0;
  #complete = true;

  constructor(memory: ReplayMemory) {
    this.#memory = memory;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False once audio was dropped because a limit was reached. Such an utterance cannot be replayed. */
  get complete(): boolean {
    return this.#complete;
  }

  append(pcm: Uint8Array, bytesMax: number): void {
    if (!this.#complete) return;
    if (this.#bytes + pcm.byteLength > bytesMax) return this.#abandon();
    for (let at = 0; at < pcm.byteLength;) {
      const offset = this.#bytes % BLOCK_BYTES;
      const block = offset === 0 ? this.#memory.take() : this.#blocks.at(-1);
      if (block === null || block === undefined) return this.#abandon();
      if (offset === 0) this.#blocks.push(block);
      const end = Math.min(pcm.byteLength, at + BLOCK_BYTES - offset);
      block.set(at === 0 && end === pcm.byteLength ? pcm : pcm.subarray(at, end), offset);
      this.#bytes += end - at;
      at = end;
    }
  }

  /** Returns the audio from `offset` to the end of its block, or null when there is none. */
  read(offset: number): Uint8Array | null {
    const block = this.#blocks[Math.floor(offset / BLOCK_BYTES)];
    if (block === undefined || offset >= this.#bytes) return null;
    const from = offset % BLOCK_BYTES;
    return block.subarray(from, Math.min(BLOCK_BYTES, from + this.#bytes - offset));
  }

  release(): void {
    this.#memory.give(this.#blocks);
    this.#blocks = [];
    this.#bytes = 0;
  }

  #abandon(): void {
    this.#complete = false;
    this.release();
  }
}
