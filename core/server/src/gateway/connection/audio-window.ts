/**
 * Measures how much audio arrived within the last `windowMs`, as a share of real time. Two counters instead of a list:
 * the previous window counts by the part of it that still overlaps.
 */
export class AudioWindow {
  readonly #windowMs: number;
  #startedAtMs: number;
  #currentMs = 0;
  #previousMs: number;

  /** A window that has just opened counts as full, so that a new stream has a whole window to speak. */
  constructor(windowMs: number, nowMs: number) {
    this.#windowMs = windowMs;
    this.#startedAtMs = nowMs;
    this.#previousMs = windowMs;
  }

  onAudio(audioMs: number, nowMs: number): void {
    this.#advance(nowMs);
    this.#currentMs += audioMs;
  }

  /** 0 without audio, 1 for audio in real time, more for audio that is sent faster. */
  share(nowMs: number): number {
    if (this.#windowMs === Infinity) return 1;
    this.#advance(nowMs);
    const overlap = 1 - (nowMs - this.#startedAtMs) / this.#windowMs;
    return (this.#currentMs + this.#previousMs * overlap) / this.#windowMs;
  }

  #advance(nowMs: number): void {
    const passed = Math.floor((nowMs - this.#startedAtMs) / this.#windowMs);
    if (passed === 0) return;
    this.#previousMs = passed === 1 ? this.#currentMs : 0;
    this.#currentMs = 0;
    this.#startedAtMs += passed * this.#windowMs;
  }
}
