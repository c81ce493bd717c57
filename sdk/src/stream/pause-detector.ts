import { VoiceActivity, WINDOW_SAMPLES } from '../voice-activity.ts';

const PAUSE_WINDOWS = 10;

/** Detects whether the audio so far ends in a pause of 200 ms, where sessions can change without cutting a word. */
export class PauseDetector {
  readonly #activity = new VoiceActivity();
  #window = new Int16Array(WINDOW_SAMPLES);
  #filled = 0;
  #quietWindows = 0;

  get isPause(): boolean {
    return this.#quietWindows >= PAUSE_WINDOWS;
  }

  push(pcm: Uint8Array): void {
    const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
    for (let at = 0; at + 1 < pcm.byteLength; at += 2) {
      this.#window[this.#filled] = view.getInt16(at, true);
      this.#filled += 1;
      if (this.#filled < WINDOW_SAMPLES) continue;
      this.#filled = 0;
      this.#quietWindows = this.#activity.isSpeech(this.#window) ? 0 : this.#quietWindows + 1;
    }
  }
}
