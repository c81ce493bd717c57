import { LevelDetector, WINDOW_SAMPLES } from '../level-detector.ts';
import { PAUSE_WINDOWS } from './limits.ts';

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
    for (const sample of new Int16Array(new Uint8Array(pcm).buffer)) {
      this.#window[this.#filled] = sample;
      this.#filled += 1;
      if (this.#filled < WINDOW_SAMPLES) continue;
      this.#filled = 0;
      this.#quietWindows = this.#level.isSpeech(this.#window) ? 0 : this.#quietWindows + 1;
    }
  }
}
