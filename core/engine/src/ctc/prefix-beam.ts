import type { Posteriors } from './posteriors.ts';
import type { Hypothesis, Path, Prefix, PrefixTree } from './prefix-tree.ts';
import type { Token } from './spoken-words.ts';

/** How many hypotheses a search follows, and which it gives up early. In natural logarithms. */
export interface BeamSettings {
  readonly width: number;
  /** A hypothesis this much worse than the best is dropped. */
  readonly pruneHypotheses: number;
  /** A label this unlikely in a frame is not tried, unless it is the likeliest. */
  readonly pruneLabels: number;
}

/**
 * CTC prefix beam search, a frame at a time. Texts are ranked by their acoustic score and what the tree's scorer makes of
 * them. Hypotheses with equal scores keep the order in which they arose, so decoding is deterministic. A beam of one
 * follows the likeliest label of each frame, which is greedy decoding.
 */
export class PrefixBeam {
  readonly #tree: PrefixTree;
  readonly #settings: BeamSettings;
  #hypotheses: readonly Hypothesis[];
  #frame: number;

  constructor(tree: PrefixTree, settings: BeamSettings, from?: PrefixBeam) {
    this.#tree = tree;
    this.#settings = settings;
    const start = { prefix: tree.root, isBlank: true, score: 0, path: null };
    this.#hypotheses = from === undefined ? [start] : from.#hypotheses;
    this.#frame = from === undefined ? 0 : from.#frame;
  }

  /** A copy that advances on its own. */
  fork(): PrefixBeam {
    return new PrefixBeam(this.#tree, this.#settings, this);
  }

  get frames(): number {
    return this.#frame;
  }

  get size(): number {
    return this.#hypotheses.length;
  }

  /** Advances over the frames from `from` to before `to`. */
  advance(posteriors: Posteriors, from: number, to: number): void {
    for (let frame = from; frame < to; frame += 1) {
      this.#step(posteriors, frame * posteriors.width);
    }
  }

  /** Advances over frames that no window covers, as if nothing was said. */
  skip(count: number): void {
    for (let frame = 0; frame < count; frame += 1) {
      const next = new Hypotheses(this.#tree.nextStep());
      for (const one of this.#hypotheses) next.offer({ ...one, isBlank: true });
      this.#hypotheses = next.best(this.#settings);
      this.#frame += 1;
    }
  }

  /** The tokens of the best text since the committed one, and its prefix. `ended`: no audio follows. */
  best(ended: boolean): { prefix: Prefix; tokens: Token[] } {
    const scores = new Map<Prefix, number>();
    for (const { prefix, score } of this.#hypotheses) {
      const text = ended ? prefix.trimmed : prefix;
      scores.set(text, addLogs(scores.get(text) ?? -Infinity, score));
    }
    let [best] = this.#hypotheses;
    let highest = -Infinity;
    for (const hypothesis of this.#hypotheses) {
      const text = ended ? hypothesis.prefix.trimmed : hypothesis.prefix;
      const language = ended ? this.#tree.endScore(text) : text.state.score;
      const total = (scores.get(text) ?? -Infinity) + language;
      if (total > highest) [best, highest] = [hypothesis, total];
    }
    if (best === undefined) throw new RangeError('A beam is never empty.');
    return { prefix: best.prefix, tokens: tokensOf(best.path) };
  }

  /**
   * Keeps only hypotheses that begin with `prefix` and have no letter after it that ended before `oldestFrame`, which bounds
   * their length. Their paths then start with the last token of `prefix`, whose sound may go on. Returns their prefixes.
   */
  keep(prefix: Prefix, oldestFrame: number): readonly Prefix[] {
    const kept: Hypothesis[] = [];
    for (const one of this.#hypotheses) {
      if (one.prefix.ancestorAt(prefix.depth) !== prefix) continue;
      const later = one.prefix.depth - prefix.depth;
      const tokens = tokensOf(one.path);
      const [first] = later === 0 ? [] : tokens.slice(-later);
      if (first !== undefined && first.lastFrame < oldestFrame) continue;
      kept.push({ ...one, path: toPath(tokens.slice(-later - 1)) });
    }
    this.#hypotheses = kept;
    return kept.map((one) => one.prefix);
  }

  #step(posteriors: Posteriors, from: number): void {
    const { values } = posteriors;
    const labels = this.#likelyLabels(posteriors, from);
    const frame = this.#frame;
    const next = new Hypotheses(this.#tree.nextStep());
    for (const { prefix, isBlank, score, path } of this.#hypotheses) {
      for (const label of labels) {
        const logProbability = values[from + label] ?? -Infinity;
        const text = this.#tree.texts[label] ?? '';
        // A space at the start or after another one writes nothing.
        const isSilent = text === ' ' && (prefix.text === ' ' || prefix.text === '');
        const here = { score: score + logProbability };
        if (label === prefix.label && (!isBlank || isSilent)) {
          next.offer({
            ...here,
            prefix,
            isBlank: false,
            path: lengthen(path, frame, logProbability),
          });
        } else if (text === '' || isSilent) {
          next.offer({ ...here, prefix, isBlank: true, path });
        } else {
          const token = { text, firstFrame: frame, lastFrame: frame, logProbability };
          const child = this.#tree.child(prefix, label);
          next.offer({ ...here, prefix: child, isBlank: false, path: { ...token, before: path } });
        }
      }
    }
    this.#hypotheses = next.best(this.#settings);
    this.#frame += 1;
  }

  #likelyLabels({ values, width }: Posteriors, from: number): readonly number[] {
    let likeliest = 0;
    for (let label = 1; label < width; label += 1) {
      if ((values[from + label] ?? -Infinity) > (values[from + likeliest] ?? -Infinity)) {
        likeliest = label;
      }
    }
    const labels: number[] = [];
    for (let label = 0; label < width; label += 1) {
      const isLikely = (values[from + label] ?? -Infinity) >= -this.#settings.pruneLabels;
      if (isLikely || label === likeliest) labels.push(label);
    }
    return labels;
  }
}

/** The hypotheses of one frame. Those with the same text and ending are one. */
class Hypotheses {
  readonly #step: number;
  readonly #all: Hypothesis[] = [];

  constructor(step: number) {
    this.#step = step;
  }

  offer(one: Hypothesis): void {
    const { prefix, isBlank } = one;
    if (prefix.step !== this.#step) {
      prefix.step = this.#step;
      prefix.inBlank = null;
      prefix.inLabel = null;
    }
    const same = isBlank ? prefix.inBlank : prefix.inLabel;
    if (same !== null) {
      if (one.score > same.score) same.path = one.path;
      same.score = addLogs(same.score, one.score);
      return;
    }
    if (isBlank) prefix.inBlank = one;
    else prefix.inLabel = one;
    this.#all.push(one);
  }

  best({ width, pruneHypotheses }: BeamSettings): readonly Hypothesis[] {
    let highest = -Infinity;
    for (const one of this.#all) highest = Math.max(highest, totalOf(one));
    const near = this.#all.filter((one) => totalOf(one) >= highest - pruneHypotheses);
    return near.toSorted((one, other) => totalOf(other) - totalOf(one)).slice(0, width);
  }
}

function totalOf({ score, prefix }: Hypothesis): number {
  return score + prefix.state.score;
}

function lengthen(path: Path | null, frame: number, logProbability: number): Path | null {
  if (path === null) return null;
  const { text, firstFrame, before } = path;
  const highest = Math.max(path.logProbability, logProbability);
  return { text, firstFrame, lastFrame: frame, logProbability: highest, before };
}

export function tokensOf(path: Path | null): Token[] {
  const tokens: Token[] = [];
  for (let at = path; at !== null; at = at.before) tokens.push(at);
  return tokens.toReversed();
}

export function toPath(tokens: readonly Token[]): Path | null {
  let path: Path | null = null;
  for (const { text, firstFrame, lastFrame, logProbability } of tokens) {
    path = { text, firstFrame, lastFrame, logProbability, before: path };
  }
  return path;
}

export function addLogs(one: number, other: number): number {
  const higher = Math.max(one, other);
  return higher === -Infinity ? higher : higher + Math.log1p(Math.exp(-Math.abs(one - other)));
}
