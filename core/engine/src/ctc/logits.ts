/** Every model of the wav2vec2 family has frames of 20 ms. */
export const CTC_FRAME_SAMPLES = 320;

/** The scores of each frame of a window, row by row. */
export interface Logits {
  readonly logits: Float32Array;
  readonly count: number;
  readonly width: number;
}
