/** What follows some letters in the keyterms. */
export class KeytermPrefix {
  readonly next = new Map<string, KeytermPrefix>();
  /** Whether a keyterm ends here. */
  isTerm = false;
}

/** A tree of the letters of all keyterms. It knows nothing of a search, so that any can use it. */
export class KeytermTree {
  readonly root = new KeytermPrefix();
  readonly words: ReadonlySet<string>;
  /** Terms by their simplified spelling. Of several, the first. Words have no space, so only terms of one word are found. */
  readonly #spellings = new Map<string, string>();

  /** The terms are folded (`readKeyterms`). */
  constructor(terms: readonly string[]) {
    for (const term of terms) this.#add(term);
    this.words = new Set(terms.flatMap((term) => term.split(' ')));
    for (const term of terms) {
      const key = simplified(term);
      if (!this.#spellings.has(key)) this.#spellings.set(key, term);
    }
  }

  get isEmpty(): boolean {
    return this.root.next.size === 0;
  }

  /** Writes a word as the keyterm that differs from it only in spelling, if there is one. */
  spell(word: string): string {
    return this.words.has(word) ? word : (this.#spellings.get(simplified(word)) ?? word);
  }

  #add(term: string): void {
    let node = this.root;
    for (const letter of term) {
      const known = node.next.get(letter) ?? new KeytermPrefix();
      node.next.set(letter, known);
      node = known;
    }
    if (node !== this.root) node.isTerm = true;
  }
}

/** People write names with or without tildes, the apostrophe of ng', the h of ch and doubled letters. */
function simplified(word: string): string {
  return word
    .replaceAll('ĩ', 'i')
    .replaceAll('ũ', 'u')
    .replaceAll("ng'", 'ng')
    .replaceAll('ch', 'c')
    .replaceAll(/(.)\1+/gu, '$1');
}
