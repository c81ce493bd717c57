import {
  CallQueue,
  TAKEN,
  type EngineStream,
  type HeldCall,
  type Peeked,
} from '@svc-asr/engine/core.ts';
import { LIMITS } from '@svc-asr/protocol';

export interface EngineFeedInput {
  readonly stream: Pick<EngineStream, 'write' | 'flush' | 'reset' | 'expect' | 'peek'>;
  /** Called when the engine falls behind, and when it catches up. */
  readonly onPause: () => void;
  readonly onResume: () => void;
  /** Called once when the buffer limit is exceeded. The caller then stops writing. */
  readonly onOverflow: () => void;
}

/** Small frames are joined into blocks of at least this size while they wait. */
const BLOCK_BYTES = 16 * 1024;
/** Writes that the engine may hold. Fewer than it has room for, and enough for a client that sends fast. */
const AT_ENGINE_MAX = 64;
/** Flushes and resets that may wait. The message rate limit ends a stream long before. */
const COMMANDS_MAX = 256;

/** Frames joined while they wait. */
interface Block {
  readonly buffer: Buffer;
  bytes: number;
}

/**
 * Passes audio and commands to the engine in order, a limited number of unfinished writes at a time. A
 * paused socket still delivers the frames that were already read, which can be thousands of tiny ones.
 * They wait here, joined and limited by bytes instead of by count.
 */
export class EngineFeed {
  readonly #input: EngineFeedInput;
  readonly #waiting = new CallQueue<Block>();
  #heldBytes = 0;
  #writing = 0;
  #hasOverflowed = false;

  constructor(input: EngineFeedInput) {
    this.#input = input;
  }

  /** True while the engine is behind. The socket is paused then. */
  get isBehind(): boolean {
    return this.#writing > 0;
  }

  write(pcm: Uint8Array): void {
    const canWrite = this.#waiting.length === 0 && this.#writing < AT_ENGINE_MAX;
    if (!canWrite) this.#hold(pcm);
    else if (!this.#writeNow(pcm) && this.#writing === 1) this.#input.onPause();
  }

  flush(): void {
    if (this.#waiting.length > 0) this.#holdCommand({ do: 'flush' });
    else this.#input.stream.flush();
  }

  /** The answer to a question that waits would be late. */
  async peek(): Promise<Peeked | null> {
    return this.#waiting.length === 0 ? ((await this.#input.stream.peek?.()) ?? null) : null;
  }

  expect(keyterms: readonly string[]): void {
    if (this.#waiting.length > 0) this.#holdCommand({ do: 'expect', keyterms });
    else this.#input.stream.expect(keyterms);
  }

  /** Drops waiting audio that no flush follows. */
  reset(): void {
    for (const { bytes } of this.#waiting.dropUnflushed()) this.#heldBytes -= bytes;
    if (this.#waiting.length > 0) this.#holdCommand({ do: 'reset' });
    else this.#input.stream.reset();
  }

  /** False when the engine has not taken it yet. */
  #writeNow(pcm: Uint8Array): boolean {
    const taken = this.#input.stream.write(pcm);
    if (taken === TAKEN) return true;
    const { byteLength } = pcm;
    this.#writing += 1;
    this.#heldBytes += byteLength;
    // After a failed write the engine emits an error event with the reason.
    const advance = (): void => this.#advance(byteLength);
    taken.then(advance, advance);
    if (this.#heldBytes > LIMITS.heldAudioBytes) this.#overflow();
    return false;
  }

  #advance(takenBytes: number): void {
    this.#writing -= 1;
    this.#heldBytes -= takenBytes;
    this.#waiting.advance((call) => this.#writing < AT_ENGINE_MAX && this.#make(call));
    if (this.#writing === 0) this.#input.onResume();
  }

  #make(call: HeldCall<Block>): true {
    const { stream } = this.#input;
    if (call.do === 'audio') {
      const { buffer, bytes } = call.audio;
      this.#heldBytes -= bytes;
      this.#writeNow(buffer.subarray(0, bytes));
    } else if (call.do === 'expect') stream.expect(call.keyterms);
    else if (call.do === 'flush') stream.flush();
    else stream.reset();
    return true;
  }

  #hold(pcm: Uint8Array): void {
    this.#heldBytes += pcm.byteLength;
    if (this.#heldBytes > LIMITS.heldAudioBytes) this.#overflow();
    const last = this.#waiting.lastAudio;
    if (last !== null && last.bytes + pcm.byteLength <= last.buffer.byteLength) {
      last.buffer.set(pcm, last.bytes);
      last.bytes += pcm.byteLength;
      return;
    }
    const buffer = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, pcm.byteLength));
    buffer.set(pcm);
    this.#waiting.add({ do: 'audio', audio: { buffer, bytes: pcm.byteLength } });
  }

  #holdCommand(command: HeldCall<Block>): void {
    this.#waiting.add(command);
    if (this.#waiting.length > COMMANDS_MAX) this.#overflow();
  }

  #overflow(): void {
    if (this.#hasOverflowed) return;
    this.#hasOverflowed = true;
    this.#input.onOverflow();
  }
}
