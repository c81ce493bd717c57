import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol/constants.ts';
import { HEADER_BYTES } from './frames.ts';

const BUFFER_BYTES = HEADER_BYTES + CHUNK_SAMPLES * AUDIO.bytesPerSample;
/** Beyond this many idle ones (2 MiB) they are left to the garbage collector. */
const IDLE_MAX = 64;

/** A pool of chunk-sized buffers. Allocating one per chunk made garbage collection the largest cost. */
export class ChunkBuffers {
  readonly #idle: Buffer[] = [];

  take(): Buffer {
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
  }

  give(buffer: Buffer): void {
    if (this.#idle.length < IDLE_MAX) this.#idle.push(buffer);
  }
}
