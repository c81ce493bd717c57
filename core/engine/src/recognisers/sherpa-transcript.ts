import { toConfidence, type Transcript } from '../transcript.ts';

/** One encoder frame, the assumed duration of a word's last letter. */
const FRAME_MS = 80;

interface TokenResult {
  readonly text: string;
  readonly tokens: readonly string[];
  /** Seconds since the utterance began, the lead-in included. */
  readonly timestamps: readonly number[];
  /** The natural logarithm of each token's probability. */
  readonly ys_probs?: readonly number[];
}

/**
 * Groups letters into words and maps their times to the caller's audio. A word's confidence is the
 * probability of its letters and of the spaces around it, the best of the scores tried
 * (docs/measurements.md).
 */
export function toTranscript(
  result: TokenResult,
  audio: { leadInMs: number; audioMs: number },
): Transcript {
  const words: { text: string; startMs: number; endMs: number; score: number }[] = [];
  // A dropped <unk> shifts the scores against the tokens. Then we report none.
  const scores = result.ys_probs?.length === result.tokens.length ? result.ys_probs : undefined;
  let inWord = false;
  let spaceScore = 0;
  for (const [at, token] of result.tokens.entries()) {
    const letters = token.trim();
    const score = scores?.[at] ?? 0;
    const before = words.at(-1);
    if (token.startsWith(' ')) inWord = false;
    if (letters === '') {
      spaceScore = score;
      if (before !== undefined) before.score += score;
      continue;
    }
    const tokenMs = (result.timestamps[at] ?? 0) * 1000 - audio.leadInMs;
    const startMs = clamp(tokenMs, audio.audioMs);
    const endMs = clamp(tokenMs + FRAME_MS, audio.audioMs);
    const word = inWord ? before : undefined;
    if (word === undefined)
      words.push({ text: letters, startMs, endMs, score: score + spaceScore });
    else {
      word.text += letters;
      word.endMs = endMs;
      word.score += score;
    }
    spaceScore = 0;
    inWord = !token.endsWith(' ');
  }
  return {
    text: result.text.trim(),
    words: words.map(({ score, ...word }) =>
      scores === undefined ? word : { ...word, confidence: toConfidence(score) },
    ),
  };
}

function clamp(ms: number, audioMs: number): number {
  return Math.round(Math.min(Math.max(ms, 0), audioMs));
}
