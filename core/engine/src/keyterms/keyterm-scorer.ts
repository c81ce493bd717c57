import type { TextScorer, TextState } from '../lm/text-scorer.ts';
import type { KeytermPrefix, KeytermTree } from './keyterm-tree.ts';

/** What each letter of a keyterm adds, in natural logarithms. docs/measurements.md compares values (docs/design/decoding.md). */
const KEYTERM_BOOST = 0.75;
/** Terms of several words may overlap. More matches than this at once are not followed. */
const MATCHES_MAX = 8;

/** A keyterm that the end of the text may be a part of. */
interface Match {
  readonly node: KeytermPrefix;
  /** Its letters that no completed keyterm contains. */
  readonly letters: number;
}

interface KeytermState extends TextState {
  readonly inner: TextState;
  /** Letters of completed keyterms. */
  readonly kept: number;
  /** The longest first. */
  readonly matches: readonly Match[];
  readonly inWord: boolean;
}

const NO_MATCHES: readonly Match[] = [];

/**
 * Adds a boost for each letter of a keyterm to another scorer. The boost is taken back when the text stops matching before
 * the keyterm's last word ends, so that a text without keyterms has the score it has without this scorer.
 */
export class KeytermScorer implements TextScorer {
  readonly begin: KeytermState;
  readonly #inner: TextScorer;
  readonly #root: KeytermPrefix;
  readonly #boost: number;

  constructor(inner: TextScorer, tree: KeytermTree, boost = KEYTERM_BOOST) {
    this.#inner = inner.withWords?.(tree.words) ?? inner;
    this.#root = tree.root;
    this.#boost = boost;
    const { begin } = this.#inner;
    this.begin = {
      score: begin.score,
      inner: begin,
      kept: 0,
      matches: NO_MATCHES,
      inWord: false,
    };
  }

  extend(state: KeytermState, text: string): KeytermState {
    let { kept, matches, inWord } = state;
    for (const letter of text) {
      const isSpace = letter === ' ';
      if (isSpace && !inWord) continue;
      if (isSpace) ({ kept, matches } = complete(kept, matches));
      matches = this.#follow(isSpace || inWord ? matches : this.#startWord(matches), letter);
      inWord = !isSpace;
    }
    const inner = this.#inner.extend(state.inner, text);
    const letters = kept + (matches[0]?.letters ?? 0);
    return { score: inner.score + this.#boost * letters, inner, kept, matches, inWord };
  }

  end(state: KeytermState): number {
    const { kept } = state.inWord ? complete(state.kept, state.matches) : state;
    return this.#inner.end(state.inner) + this.#boost * kept;
  }

  #startWord(matches: readonly Match[]): readonly Match[] {
    if (matches.length >= MATCHES_MAX) return matches;
    return [...matches, { node: this.#root, letters: 0 }];
  }

  #follow(matches: readonly Match[], letter: string): readonly Match[] {
    if (matches.length === 0) return matches;
    const followed: Match[] = [];
    for (const { node, letters } of matches) {
      const next = node.next.get(letter);
      // Spaces have no boost: the number of words is the language model's business.
      if (next !== undefined) {
        followed.push({ node: next, letters: letter === ' ' ? letters : letters + 1 });
      }
    }
    return followed.length === 0 ? NO_MATCHES : followed;
  }
}

/** A word ends. Keeps the letters of keyterms that end with it; each letter counts once. */
function complete(
  kept: number,
  matches: readonly Match[],
): { kept: number; matches: readonly Match[] } {
  const longest = matches.findIndex(({ node }) => node.isTerm);
  const { letters: gained } = matches[longest] ?? { letters: 0 };
  if (gained === 0) return { kept, matches };
  const rest = matches.map((match, at) => ({
    node: match.node,
    letters: at < longest ? match.letters - gained : 0,
  }));
  return { kept: kept + gained, matches: rest };
}
