import type { EngineWord } from '../engine.ts';
import { toConfidence, type Transcript } from '../transcript.ts';
import { CTC_FRAME_SAMPLES } from './logits.ts';

const FRAME_MS = (CTC_FRAME_SAMPLES * 1000) / 16_000;

/** How some words are written, such as keyterms. */
export interface Spelling {
  spell(word: string): string;
}

/** The text of a label on a path, its frames, and the probability of its likeliest frame. */
export interface Token {
  readonly text: string;
  readonly firstFrame: number;
  readonly lastFrame: number;
  readonly logProbability: number;
}

/** Letters between spaces, timed by their frames and scored by the product of their probabilities. */
export function wordsOf(
  tokens: Iterable<Token>,
  audioMs: number,
  frameMs = FRAME_MS,
): EngineWord[] {
  const words: { text: string; startMs: number; endMs: number; logProbability: number }[] = [];
  let inWord = false;
  for (const token of tokens) {
    const letters = token.text.trim();
    if (token.text.startsWith(' ')) inWord = false;
    if (letters === '') continue;
    const startMs = Math.min(token.firstFrame * frameMs, audioMs);
    const endMs = Math.min((token.lastFrame + 1) * frameMs, audioMs);
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
export function stableLengthOf(tokens: readonly Token[], keyterms?: Spelling): number {
  const kept = spelled(wordsOf(tokens, Infinity), keyterms).map((word) => word.text);
  if (tokens.at(-1)?.text.endsWith(' ') === true) return kept.join(' ').length;
  const whole = kept.slice(0, -1);
  return whole.length === 0 ? 0 : whole.join(' ').length + 1;
}

/** The text of a search. What is committed doesn't change. Words are spelled as keyterms are. */
export function transcriptOf(input: {
  readonly words: readonly EngineWord[];
  readonly committed: readonly Token[];
  readonly keyterms: Spelling | undefined;
}): Transcript {
  const words = spelled(input.words, input.keyterms);
  const text = words.map((word) => word.text).join(' ');
  return { text, words, stableLength: stableLengthOf(input.committed, input.keyterms) };
}

function spelled(words: readonly EngineWord[], keyterms?: Spelling): readonly EngineWord[] {
  if (keyterms === undefined) return words;
  return words.map((word) => ({ ...word, text: keyterms.spell(word.text) }));
}
