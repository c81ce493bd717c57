import type { Transcript } from '../transcript.ts';
import type { Logits } from './logits.ts';

/** Where a window lies in the utterance, in frames. */
export interface WindowPlace {
  readonly firstFrame: number;
  /** Frames before this one are final; those after it lack right context. */
  readonly keepTo: number;
}

/** Makes the text of an utterance from overlapping windows. */
export interface UtteranceText {
  /** How many frames of the utterance are final. */
  readonly keptFrames: number;
  add(window: Logits, place: WindowPlace): void;
  /** All audio has been added. */
  end(): void;
  transcript(audioMs: number): Transcript;
  /** The transcript with this window as the last one. Nothing is added. */
  peek(
    window: Logits,
    place: { readonly firstFrame: number; readonly audioMs: number },
  ): Transcript;
}
