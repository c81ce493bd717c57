import type { EngineWord } from '../engine.ts';

/** One encoder frame: how long the last letter of a word is taken to last. */
const FRAME_MS = 80;

export interface Transcript {
  readonly text: string;
  readonly words: readonly EngineWord[];
}

interface TokenResult {
  readonly text: string;
  readonly tokens: readonly string[];
  /** Seconds since the utterance began, the lead-in included. */
  readonly timestamps: readonly number[];
}

/** Groups letters into words and puts their times back onto the caller's audio. */
export function toTranscript(
  result: TokenResult,
  audio: { leadInMs: number; heardMs: number },
): Transcript {
  const words: { text: string; startMs: number; endMs: number }[] = [];
  let inWord = false;
  for (const [at, token] of result.tokens.entries()) {
    const letters = token.trim();
    if (token.startsWith(' ')) inWord = false;
    if (letters === '') continue;
    const tokenMs = (result.timestamps[at] ?? 0) * 1000 - audio.leadInMs;
    const startMs = clamp(tokenMs, audio.heardMs);
    const endMs = clamp(tokenMs + FRAME_MS, audio.heardMs);
    const word = inWord ? words.at(-1) : undefined;
    if (word === undefined) words.push({ text: letters, startMs, endMs });
    else {
      word.text += letters;
      word.endMs = endMs;
    }
    inWord = !token.endsWith(' ');
  }
  return { text: result.text.trim(), words };
}

function clamp(ms: number, heardMs: number): number {
  return Math.round(Math.min(Math.max(ms, 0), heardMs));
}
