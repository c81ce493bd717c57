import type { Logits } from './logits.ts';
import type { CtcTokens } from './tokens.ts';

/** The best label of each frame of a window, and how likely it is. */
export interface Frames {
  readonly labels: Int32Array;
  readonly logProbabilities: Float32Array;
}

export function bestLabels({ logits, count, width }: Logits, tokens: CtcTokens): Frames {
  const { blank, usable } = tokens;
  const labels = new Int32Array(count);
  const logProbabilities = new Float32Array(count);
  for (let frame = 0; frame < count; frame += 1) {
    const row = frame * width;
    let best = blank;
    let highest = -Infinity;
    for (const label of usable) {
      const value = logits[row + label] ?? -Infinity;
      if (value > highest) [best, highest] = [label, value];
    }
    let sum = 0;
    for (const label of usable) sum += Math.exp((logits[row + label] ?? 0) - highest);
    labels[frame] = best;
    logProbabilities[frame] = -Math.log(sum);
  }
  return { labels, logProbabilities };
}
