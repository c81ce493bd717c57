/** Frames that wait here: four seconds of speech in base64. */
export const WAITING_CHARS_MAX = 256 * 1024;
/** Frames of 50 ms at a hundred times the speed of speech. */
const FRAMES_PER_SECOND_MAX = 2_000;

interface Source {
  pause(): void;
  resume(): void;
}

/** Handles a client's frames one after another. Stops reading while too many wait. */
export class RealtimeInbox {
  readonly #source: Source;
  readonly #handle: (frame: string) => Promise<void>;
  readonly #waiting: string[] = [];
  #waitingChars = 0;
  #isBusy = false;
  #window = { startMs: 0, frames: 0 };

  constructor(source: Source, handle: (frame: string) => Promise<void>) {
    this.#source = source;
    this.#handle = handle;
  }

  /** False if the client sends too many frames. */
  push(frame: string): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#window.startMs > 1_000) this.#window = { startMs: nowMs, frames: 0 };
    this.#window.frames += 1;
    if (this.#window.frames > FRAMES_PER_SECOND_MAX) return false;
    this.#waiting.push(frame);
    this.#waitingChars += frame.length;
    if (this.#waitingChars > WAITING_CHARS_MAX) this.#source.pause();
    if (!this.#isBusy) void this.#work();
    return true;
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    for (let frame = this.#waiting.shift(); frame !== undefined; frame = this.#waiting.shift()) {
      await this.#handle(frame);
      this.#waitingChars -= frame.length;
      if (this.#waitingChars <= WAITING_CHARS_MAX) this.#source.resume();
    }
    this.#isBusy = false;
  }
}
