import type { Logits } from '../ctc/logits.ts';

export interface EncodedWindow {
  readonly logits: Logits;
  readonly firstFrame: number;
  /** How much audio the scores cover. */
  readonly samples: number;
}

/** The audio of an utterance, and how the next window is encoded. */
export interface AudioWindows {
  accept(samples: Float32Array): void;
  /** Encodes a window that ends at this sample. The frames before `keptFrames` are context. */
  encode(to: number, keptFrames: number): Promise<EncodedWindow>;
  /** Does the same, but changes nothing. */
  look(to: number, keptFrames: number): Promise<EncodedWindow>;
}
