/**
 * How much of a growing text will not change any more: everything before its last word, which may still grow.
 * A greedy transducer never takes a letter back, so whole words are safe to act on.
 */
export function stableLength(text: string): number {
  return text.lastIndexOf(' ') + 1;
}
