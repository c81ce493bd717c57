/** What follows some letters in the keyterms. */
export class KeytermNode {
  readonly next = new Map<string, KeytermNode>();
  /** Whether a keyterm ends here. */
  isTerm = false;
}

/** A tree of the letters of all keyterms. It knows nothing of a search, so that any can use it. */
export class KeytermTree {
  readonly root = new KeytermNode();
  readonly words: ReadonlySet<string>;

  /** The terms are folded (`readKeyterms`). */
  constructor(terms: readonly string[]) {
    for (const term of terms) this.#add(term);
    this.words = new Set(terms.flatMap((term) => term.split(' ')));
  }

  get isEmpty(): boolean {
    return this.root.next.size === 0;
  }

  #add(term: string): void {
    let node = this.root;
    for (const letter of term) {
      const known = node.next.get(letter) ?? new KeytermNode();
      node.next.set(letter, known);
      node = known;
    }
    if (node !== this.root) node.isTerm = true;
  }
}
