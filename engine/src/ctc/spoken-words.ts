import type { EngineWord } from '../engine.ts';
import { toConfidence } from '../sherpa/transcript.ts';
import { CTC_FRAME_SAMPLES } from './ctc-encoder.ts';

const FRAME_MS = (CTC_FRAME_SAMPLES * 1000) / 16_000;

/** The text of a label on a path, its frames, and the probability of its likeliest frame. */
export interface Token {
  readonly text: string;
  readonly firstFrame: number;
  readonly lastFrame: number;
  readonly logProbability: number;
}

/** Letters between spaces, timed by their frames and scored by the product of their probabilities. */
export function wordsOf(tokens: Iterable<Token>, audioMs: number): EngineWord[] {
  const words: { text: string; startMs: number; endMs: number; logProbability: number }[] = [];
  let inWord = false;
  for (const token of tokens) {
    const letters = token.text.trim();
    if (token.text.startsWith(' ')) inWord = false;
    if (letters === '') continue;
    const startMs = Math.min(token.firstFrame * FRAME_MS, audioMs);
    const endMs = Math.min((token.lastFrame + 1) * FRAME_MS, audioMs);
    const word = inWord ? words.at(-1) : undefined;
    if (word === undefined) {
      words.push({ text: letters, startMs, endMs, logProbability: token.logProbability });
    } else {
      word.text += letters;
      word.endMs = endMs;
      word.logProbability += token.logProbability;
    }
    inWord = !token.text.endsWith(' ');
  }
  return words.map(({ text, startMs, endMs, logProbability }) => ({
    text,
    startMs: Math.round(startMs),
    endMs: Math.round(endMs),
    confidence: toConfidence(logProbability),
  }));
}

/** The length of the words that will not change: the last one counts only if a kept space ends it. */
export function stableLengthOf(tokens: readonly Token[]): number {
  const kept = wordsOf(tokens, Infinity).map((word) => word.text);
  if (tokens.at(-1)?.text.endsWith(' ') === true) return kept.join(' ').length;
  const whole = kept.slice(0, -1);
  return whole.length === 0 ? 0 : whole.join(' ').length + 1;
}
