import type { EngineWord } from './engine.ts';

/** The text of an utterance so far. */
export interface Transcript {
  readonly text: string;
  /** Number of characters that will not change. Default: all words but the last. */
  readonly stableLength?: number;
  readonly words: readonly EngineWord[];
}

export function toConfidence(logProbability: number): number {
  return Math.round(Math.exp(Math.min(0, logProbability)) * 1000) / 1000;
}
