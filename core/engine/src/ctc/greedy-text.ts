import type { Transcript } from '../transcript.ts';
import type { Logits } from './logits.ts';
import { bestLabels } from './best-labels.ts';
import { StitchedText } from './stitched-text.ts';
import type { CtcTokens } from './tokens.ts';
import type { UtteranceText, WindowPlace } from './utterance-text.ts';

/** The text of the likeliest label of each frame. */
export class GreedyText implements UtteranceText {
  readonly #tokens: CtcTokens;
  readonly #text: StitchedText;

  constructor(tokens: CtcTokens) {
    this.#tokens = tokens;
    this.#text = new StitchedText(tokens);
  }

  get keptFrames(): number {
    return this.#text.keptFrames;
  }

  add(window: Logits, place: WindowPlace): void {
    this.#text.add(bestLabels(window, this.#tokens), place);
  }

  /** The last frames are already as good as they get. */
  end(): void {}

  peek(window: Logits, place: { firstFrame: number; audioMs: number }): Transcript {
    return this.#text.peek(bestLabels(window, this.#tokens), place);
  }

  transcript(audioMs: number): Transcript {
    return this.#text.transcript(audioMs);
  }
}
