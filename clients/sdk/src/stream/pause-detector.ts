import { LevelDetector, WINDOW_SAMPLES } from '../level-detector.ts';

const PAUSE_WINDOWS = 10;

/** Detects whether the audio so far ends in a pause of 200 ms, where sessions can change without cutting a word. */
export class PauseDetector {
  readonly #level = new LevelDetector();
  #window = new Int16Array(WINDOW_SAMPLES);
  #filled = 0;
  #quietWindows = 0;

  get isPause(): boolean {
    return this.#quietWindows >= PAUSE_WINDOWS;
  }

  push(pcm: Uint8Array): void {
    // A copy, because samples have to lie at even offsets.
    const samples = new Int16Array(new Uint8Array(pcm).buffer, 0, pcm.byteLength >> 1);
    for (const sample of samples) {
      this.#window[this.#filled] = sample;
      this.#filled += 1;
      if (this.#filled < WINDOW_SAMPLES) continue;
      this.#filled = 0;
      this.#quietWindows = this.#level.isSpeech(this.#window) ? 0 : this.#quietWindows + 1;
    }
  }
}
