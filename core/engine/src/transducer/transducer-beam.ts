import { addLogs, tokensOf, toPath, type BeamSettings } from '../ctc/prefix-beam.ts';
import type { Path, Prefix, PrefixTree } from '../ctc/prefix-tree.ts';
import type { Token } from '../ctc/spoken-words.ts';

/** The last tokens of a text; the decoder network knows nothing else of it. */
export type TokenContext = readonly number[];

export interface TransducerHypothesis {
  readonly prefix: Prefix;
  readonly context: TokenContext;
  /** The log-probability of all its alignments. */
  readonly score: number;
  /** Its likeliest alignment since the committed text. */
  readonly path: Path | null;
}

/** Row by row, the log-probability of each token after each hypothesis. */
export type NextTokens = Float64Array;

const BLANK = 0;

/**
 * The modified beam search of icefall: a hypothesis writes at most one token in a frame, and those with the same tokens are
 * one. Unlike there, the tree's scorer counts when hypotheses are chosen, so that a keyterm can enter the beam.
 */
export class TransducerBeam {
  readonly #tree: PrefixTree;
  readonly #settings: BeamSettings;
  readonly #contextTokens: number;
  #hypotheses: readonly TransducerHypothesis[];
  #frame = 0;

  constructor(tree: PrefixTree, settings: BeamSettings, contextTokens: number) {
    this.#tree = tree;
    this.#settings = settings;
    this.#contextTokens = contextTokens;
    // Before the first token there is none, and then the blank.
    const context = Array.from({ length: contextTokens }, (_, at) =>
      at < contextTokens - 1 ? -1 : BLANK,
    );
    this.#hypotheses = [{ prefix: tree.root, context, score: 0, path: null }];
  }

  /** A copy that goes its own way. */
  fork(): TransducerBeam {
    const copy = new TransducerBeam(this.#tree, this.#settings, this.#contextTokens);
    copy.#hypotheses = this.#hypotheses;
    copy.#frame = this.#frame;
    return copy;
  }

  get hypotheses(): readonly TransducerHypothesis[] {
    return this.#hypotheses;
  }

  get frames(): number {
    return this.#frame;
  }

  /** Advances over a frame. The rows are those of `hypotheses`. */
  step(next: NextTokens): void {
    const width = next.length / this.#hypotheses.length;
    const found = new Map<Prefix, TransducerHypothesis>();
    for (const [row, hypothesis] of this.#hypotheses.entries()) {
      for (const token of this.#likely(next, row * width, width)) {
        const logProbability = next[row * width + token] ?? -Infinity;
        const one = this.#extend(hypothesis, token, logProbability);
        const same = found.get(one.prefix);
        found.set(one.prefix, same === undefined ? one : joined(same, one));
      }
    }
    const all = [...found.values()];
    const highest = Math.max(...all.map(totalOf));
    this.#hypotheses = all
      .filter((one) => totalOf(one) >= highest - this.#settings.pruneHypotheses)
      .toSorted((one, other) => totalOf(other) - totalOf(one))
      .slice(0, this.#settings.width);
    this.#frame += 1;
  }

  /** The best text since the committed one. `ended`: no audio follows. Long texts are not worse for their length. */
  best(ended: boolean): { prefix: Prefix; tokens: Token[] } {
    let [best] = this.#hypotheses;
    let highest = -Infinity;
    for (const one of this.#hypotheses) {
      const language = ended ? this.#tree.endScore(one.prefix.trimmed) : one.prefix.state.score;
      const mean = (one.score + language) / (one.prefix.depth + this.#contextTokens);
      if (mean > highest) [best, highest] = [one, mean];
    }
    if (best === undefined) throw new RangeError('A beam is never empty.');
    return { prefix: best.prefix, tokens: tokensOf(best.path) };
  }

  /** Keeps only hypotheses that begin with `prefix`, and what follows it of their paths. Returns their prefixes. */
  keep(prefix: Prefix): readonly Prefix[] {
    this.#hypotheses = this.#hypotheses
      .filter((one) => one.prefix.ancestorAt(prefix.depth) === prefix)
      .map((one) => {
        const later = one.prefix.depth - prefix.depth;
        return { ...one, path: later === 0 ? null : toPath(tokensOf(one.path).slice(-later)) };
      });
    return this.#hypotheses.map((one) => one.prefix);
  }

  #extend(from: TransducerHypothesis, token: number, logProbability: number): TransducerHypothesis {
    const score = from.score + logProbability;
    if (token === BLANK) return { ...from, score };
    const text = this.#tree.texts[token] ?? '';
    const frame = this.#frame;
    return {
      prefix: this.#tree.child(from.prefix, token),
      context: [...from.context.slice(1), token],
      score,
      path: { text, firstFrame: frame, lastFrame: frame, logProbability, before: from.path },
    };
  }

  /** The blank, and tokens that are likely or the likeliest. Special tokens are never written. */
  #likely(next: NextTokens, from: number, width: number): readonly number[] {
    const tokens = [BLANK];
    let likeliest = BLANK;
    for (let token = 1; token < width; token += 1) {
      const value = next[from + token] ?? -Infinity;
      if (this.#tree.texts[token] === '') continue;
      if (value > (next[from + likeliest] ?? -Infinity)) likeliest = token;
      if (value >= -this.#settings.pruneLabels) tokens.push(token);
    }
    return tokens.includes(likeliest) ? tokens : [...tokens, likeliest];
  }
}

function joined(one: TransducerHypothesis, other: TransducerHypothesis): TransducerHypothesis {
  const likelier = other.score > one.score ? other : one;
  return { ...likelier, score: addLogs(one.score, other.score) };
}

function totalOf({ score, prefix }: TransducerHypothesis): number {
  return score + prefix.state.score;
}
