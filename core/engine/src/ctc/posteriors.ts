import type { Logits } from './logits.ts';

/** The log-probabilities of some labels in each frame of a window, row by row. */
export interface Posteriors {
  readonly values: Float64Array;
  readonly count: number;
  /** How many labels each row has. */
  readonly width: number;
}

/** Labels this much less likely than the best add nothing to the sum that a float could hold. */
const NEGLIGIBLE = 20;

/**
 * Normalises over all labels of the model and then keeps `labels`. Leaving out the others first would change the scores for
 * which published language model weights were tuned. Frames before `fromFrame` are left out.
 */
export function toPosteriors(
  window: Logits,
  input: { readonly labels: readonly number[]; readonly fromFrame: number },
): Posteriors {
  const { logits } = window;
  const { labels, fromFrame } = input;
  const count = Math.max(0, window.count - fromFrame);
  const values = new Float64Array(count * labels.length);
  for (let frame = 0; frame < count; frame += 1) {
    const from = (fromFrame + frame) * window.width;
    const to = from + window.width;
    let highest = -Infinity;
    for (let at = from; at < to; at += 1) highest = Math.max(highest, logits[at] ?? -Infinity);
    let sum = 0;
    for (let at = from; at < to; at += 1) {
      const below = (logits[at] ?? -Infinity) - highest;
      if (below > -NEGLIGIBLE) sum += Math.exp(below);
    }
    const all = highest + Math.log(sum);
    for (let at = 0; at < labels.length; at += 1) {
      values[frame * labels.length + at] = (logits[from + (labels[at] ?? 0)] ?? -Infinity) - all;
    }
  }
  return { values, count, width: labels.length };
}
