import type { Logits } from '../ctc/logits.ts';

export interface EncodedWindow {
  readonly logits: Logits;
  readonly firstFrame: number;
  /** How much audio the scores cover. */
  readonly samples: number;
}

/** Frames of the utterance, counted from its start. */
export interface Frames {
  /** Those before this one are final; some of them are context. */
  readonly keptFrames: number;
  /** Those before this one will be final. */
  readonly keepTo: number;
}

/** The audio of an utterance, and how the next window is encoded. */
export interface AudioWindows {
  accept(samples: Float32Array): void;
  /** Encodes a window that ends at this sample. */
  encode(to: number, frames: Frames): Promise<EncodedWindow>;
  /** Does the same, but changes nothing. */
  look(to: number, frames: Pick<Frames, 'keptFrames'>): Promise<EncodedWindow>;
}
