import { appendSamples } from '../append-samples.ts';
import { CTC_FRAME_SAMPLES } from '../ctc/logits.ts';
import type { AudioWindows, EncodedWindow, Frames } from './audio-windows.ts';
import type { CtcModel } from './ctc-model.ts';

/** Encodes all audio of each window, normalised on its own. For models without cached features. */
export class WholeWindows implements AudioWindows {
  readonly #model: CtcModel;
  readonly #leftFrames: number;
  #audio = new Float32Array(0);
  /** Position of #audio in the utterance. */
  #audioFrom = 0;

  constructor(model: CtcModel, leftFrames: number) {
    this.#model = model;
    this.#leftFrames = leftFrames;
  }

  accept(samples: Float32Array): void {
    this.#audio = appendSamples(this.#audio, samples);
  }

  encode(to: number, frames: Frames): Promise<EncodedWindow> {
    const from = this.#firstFrame(frames) * CTC_FRAME_SAMPLES;
    this.#audio = this.#audio.subarray(from - this.#audioFrom);
    this.#audioFrom = from;
    return this.look(to, frames);
  }

  async look(to: number, frames: Pick<Frames, 'keptFrames'>): Promise<EncodedWindow> {
    const firstFrame = this.#firstFrame(frames);
    const from = firstFrame * CTC_FRAME_SAMPLES;
    const window = this.#audio.subarray(from - this.#audioFrom, to - this.#audioFrom);
    return { logits: await this.#model.run(window), firstFrame, samples: window.length };
  }

  #firstFrame({ keptFrames }: Pick<Frames, 'keptFrames'>): number {
    return Math.max(0, keptFrames - this.#leftFrames);
  }
}
