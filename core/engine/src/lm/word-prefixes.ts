/** Tells whether any word of a vocabulary starts with some letters. A sorted list: a tree of objects would take ten times its memory. */
export class WordPrefixes {
  readonly #sorted: readonly string[];

  constructor(words: readonly string[]) {
    this.#sorted = words.toSorted(compare);
  }

  has(prefix: string): boolean {
    let from = 0;
    let to = this.#sorted.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (compare(this.#sorted[middle] ?? '', prefix) < 0) from = middle + 1;
      else to = middle;
    }
    return this.#sorted[from]?.startsWith(prefix) === true;
  }
}

/** By code units, as startsWith compares. */
function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
