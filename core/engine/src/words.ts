/**
 * Returns the length of the text that will not change: everything before the last word, which may still
 * grow. A greedy transducer never retracts a letter, so whole words are safe to act on.
 */
export function stableLength(text: string): number {
  return text.lastIndexOf(' ') + 1;
}
