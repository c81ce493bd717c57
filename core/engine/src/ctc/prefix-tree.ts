import type { TextScorer, TextState } from '../lm/text-scorer.ts';
import type { Token } from './spoken-words.ts';

/** The labels of a hypothesis since the committed text, the newest first, with their frames. */
export interface Path extends Token {
  readonly before: Path | null;
}

/** A text, and whether its last frame was a blank: only then does the same label again write a second letter. */
export interface Hypothesis {
  readonly prefix: Prefix;
  readonly isBlank: boolean;
  /** The log-probability of all its alignments. */
  score: number;
  /** Its likeliest alignment. */
  path: Path | null;
}

/** A text that the search considers: the text of its parent and one label. */
export class Prefix {
  parent: Prefix | null;
  /** Position of the label in the search's list; -1 for the empty text. */
  readonly label: number;
  readonly text: string;
  readonly depth: number;
  readonly state: TextState;
  /** Prefixes that continue this one and are still in use. */
  readonly children = new Map<number, Prefix>();
  /** The hypotheses with this text in the frame that `step` numbers: ending in a blank, and ending in the label. */
  step = 0;
  inBlank: Hypothesis | null = null;
  inLabel: Hypothesis | null = null;

  constructor(parent: Prefix | null, last: { label: number; text: string; state: TextState }) {
    this.parent = parent;
    this.label = last.label;
    this.text = last.text;
    this.depth = parent === null ? 0 : parent.depth + 1;
    this.state = last.state;
  }

  /** The same text without a space at its end. */
  get trimmed(): Prefix {
    return this.text === ' ' && this.parent !== null ? this.parent : this;
  }

  ancestorAt(depth: number): Prefix | null {
    let found: Prefix | null = this.depth < depth ? null : this;
    while (found !== null && found.depth > depth) found = found.parent;
    return found;
  }
}

/** All prefixes of a search. Its copies share them, because what a prefix is worth doesn't depend on frames. */
export class PrefixTree {
  readonly texts: readonly string[];
  readonly #scorer: TextScorer;
  #root: Prefix;
  #steps = 0;

  /** The text of each label; empty for the blank. */
  constructor(texts: readonly string[], scorer: TextScorer) {
    this.texts = texts;
    this.#scorer = scorer;
    this.#root = new Prefix(null, { label: -1, text: '', state: scorer.begin });
  }

  /** The committed text. */
  get root(): Prefix {
    return this.#root;
  }

  /** How many prefixes follow the committed text. */
  get size(): number {
    const count = (prefix: Prefix): number => {
      let all = prefix.children.size;
      for (const child of prefix.children.values()) all += count(child);
      return all;
    };
    return count(this.#root);
  }

  nextStep(): number {
    this.#steps += 1;
    return this.#steps;
  }

  child(prefix: Prefix, label: number): Prefix {
    const known = prefix.children.get(label);
    if (known !== undefined) return known;
    const text = this.texts[label] ?? '';
    const state = this.#scorer.extend(prefix.state, text);
    const child = new Prefix(prefix, { label, text, state });
    prefix.children.set(label, child);
    return child;
  }

  endScore(prefix: Prefix): number {
    return this.#scorer.end(prefix.state);
  }

  /** Makes `root` the committed text and forgets all prefixes except those that lead to `used`. */
  moveRoot(root: Prefix, used: Iterable<Prefix>): void {
    this.#root = root;
    // A space is taken back at the end of an utterance, so the prefix before it stays.
    if (root.text === ' ' && root.parent !== null) root.parent.parent = null;
    else root.parent = null;
    root.children.clear();
    const seen = new Set<Prefix>([root]);
    for (const leaf of used) {
      for (let at: Prefix | null = leaf; at !== null && !seen.has(at); at = at.parent) {
        seen.add(at);
        at.children.clear();
      }
    }
    for (const prefix of seen) {
      if (prefix !== root) prefix.parent?.children.set(prefix.label, prefix);
    }
  }
}
