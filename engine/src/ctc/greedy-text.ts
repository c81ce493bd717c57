import type { Transcript } from '../sherpa/transcript.ts';
import type { Logits } from './ctc-encoder.ts';
import type { CtcModel } from './ctc-model.ts';
import { StitchedText } from './stitched-text.ts';
import type { UtteranceText, WindowPlace } from './utterance-text.ts';

/** The text of the likeliest label of each frame. */
export class GreedyText implements UtteranceText {
  readonly #model: CtcModel;
  readonly #text: StitchedText;

  constructor(model: CtcModel) {
    this.#model = model;
    this.#text = new StitchedText(model.tokens);
  }

  get keptFrames(): number {
    return this.#text.keptFrames;
  }

  add(window: Logits, place: WindowPlace): void {
    this.#text.add(this.#model.bestLabels(window), place);
  }

  /** The last frames are already as good as they get. */
  end(): void {}

  transcript(audioMs: number): Transcript {
    return this.#text.transcript(audioMs);
  }
}
