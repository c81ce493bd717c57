import type { EngineWord } from '@svc-asr/engine';
import { align } from './alignment.ts';
import { normalise, words } from './scoring.ts';
import { round } from './statistics.ts';

/** A recognised word with its confidence and whether it is correct. */
export interface ScoredWord {
  readonly confidence: number;
  readonly right: boolean;
}

export interface ConfidenceQuality {
  readonly words: number;
  /** AUC: how often a correct word scores above a wrong one. 0.5 is chance, 1 is perfect. */
  readonly auc: number;
  /** Mean difference between scores and the share of correct words. */
  readonly ece: number;
  readonly bins: readonly ConfidenceBin[];
}

/** Words with similar scores. */
export interface ConfidenceBin {
  readonly from: number;
  readonly to: number;
  readonly words: number;
  readonly right: number;
  /** The mean of their scores. */
  readonly mean: number;
}

const BINS = 10;

/** Pairs recognised words with spoken ones. A word without a score is left out. */
export function scoreWords(spoken: string, recognised: readonly EngineWord[]): ScoredWord[] {
  const written = recognised.flatMap(({ text, confidence }) => {
    const spelt = normalise(text);
    return confidence === undefined || spelt === '' ? [] : [{ spelt, confidence }];
  });
  const steps = align(
    words(spoken),
    written.map(({ spelt }) => spelt),
  );
  let at = 0;
  return steps.flatMap((step) => {
    if (step.recognised === undefined) return [];
    const confidence = written[at]?.confidence ?? 0;
    at += 1;
    return [{ confidence, right: step.spoken === step.recognised }];
  });
}

/** Returns null if there are no scores, or if all words are correct or all wrong. */
export function confidenceQuality(scored: readonly ScoredWord[]): ConfidenceQuality | null {
  const right = scored.filter((word) => word.right).length;
  if (right === 0 || right === scored.length) return null;
  const bins = Array.from({ length: BINS }, (_, at) => binOf(scored, at));
  const gaps = bins.map((bin) => Math.abs(bin.mean * bin.words - bin.right));
  return {
    words: scored.length,
    auc: round(aucOf(scored), 3),
    ece: round(gaps.reduce((sum, gap) => sum + gap, 0) / scored.length, 3),
    bins,
  };
}

function binOf(scored: readonly ScoredWord[], at: number): ConfidenceBin {
  const inside = scored.filter(
    ({ confidence }) => Math.min(BINS - 1, Math.floor(confidence * BINS)) === at,
  );
  const sum = inside.reduce((total, { confidence }) => total + confidence, 0);
  return {
    from: at / BINS,
    to: (at + 1) / BINS,
    words: inside.length,
    right: inside.filter((word) => word.right).length,
    mean: inside.length === 0 ? 0 : sum / inside.length,
  };
}

/** Computed from ranks. Ties count half. */
function aucOf(words: readonly ScoredWord[]): number {
  const sorted = words.toSorted((a, b) => a.confidence - b.confidence);
  let [rankSum, at] = [0, 0];
  while (at < sorted.length) {
    let end = at;
    while (sorted[end]?.confidence === sorted[at]?.confidence && end < sorted.length) end += 1;
    const rank = (at + 1 + end) / 2;
    rankSum += rank * sorted.slice(at, end).filter((word) => word.right).length;
    at = end;
  }
  const right = words.filter((word) => word.right).length;
  return (rankSum - (right * (right + 1)) / 2) / (right * (words.length - right));
}
