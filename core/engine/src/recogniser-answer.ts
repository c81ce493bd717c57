import { AUDIO } from '@svc-asr/protocol/constants.ts';
import type { EngineWord } from './engine.ts';
import { stableLength } from './words.ts';

/**
 * Reads everything that child processes and engine nodes say. They parse untrusted audio, and a node is another machine,
 * so nothing of it is believed. An invalid answer means a broken recogniser: its streams continue on another one.
 */

/**
 * More than any recogniser can write, whatever it hears: a transducer makes at most ten tokens per frame of 80 ms, and
 * a token has at most 16 letters. A lower limit would let audio that confuses the weights end their process.
 */
const WORDS_PER_SECOND = 125;
const CHARS_PER_SECOND = 16 * WORDS_PER_SECOND;
/** For the silence before and after the audio. */
const CHARS_MIN = 1_024;
const WORDS_MIN = 64;
/** Longer than any session. */
const TIME_MS_MAX = 3_600_000;
/** Control characters, line separators, and characters that reorder or hide text in a terminal. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
const BUILD = /^[\w .:+@/-]{1,200}$/;

export class InvalidAnswer extends Error {
  constructor(what: string) {
    super(`A recogniser sent an invalid answer: ${what}.`);
    this.name = 'InvalidAnswer';
  }
}

export interface DeltaAnswer {
  readonly text: string;
  readonly stableLength: number;
  readonly samples: number;
}

export interface FinalAnswer {
  readonly text: string;
  readonly words: readonly EngineWord[];
  readonly samples: number;
}

/** `sentSamples` is the audio that the recogniser got, which limits what it can have recognised. */
export function readDelta(answer: unknown, sentSamples: number): DeltaAnswer {
  const fields = readFields(answer);
  const text = readText(fields.get('text'), sentSamples);
  const stable = fields.get('stableLength') ?? stableLength(text);
  return {
    text,
    stableLength: Math.min(readCount(stable, 'stable length'), text.length),
    samples: readSamples(fields.get('samples'), sentSamples),
  };
}

export function readFinal(answer: unknown, sentSamples: number): FinalAnswer {
  const fields = readFields(answer);
  return {
    text: readText(fields.get('text'), sentSamples),
    words: readWords(fields.get('words'), sentSamples),
    samples: readSamples(fields.get('samples'), sentSamples),
  };
}

export function readText(value: unknown, sentSamples: number): string {
  if (typeof value !== 'string') throw new InvalidAnswer('text that is not a string');
  const charsMax = CHARS_MIN + CHARS_PER_SECOND * secondsOf(sentSamples);
  if (value.length > charsMax) throw new InvalidAnswer('too much text for the audio');
  if (!value.isWellFormed() || UNPRINTABLE.test(value)) {
    throw new InvalidAnswer('unprintable characters');
  }
  return value;
}

export function readWords(value: unknown, sentSamples: number): EngineWord[] {
  if (!Array.isArray(value)) throw new InvalidAnswer('words that are not a list');
  const list: readonly unknown[] = value;
  if (list.length > wordsMax(sentSamples)) throw new InvalidAnswer('too many words');
  let chars = 0;
  let beganMs = 0;
  return list.map((one) => {
    const fields = readFields(one);
    const text = readText(fields.get('text'), sentSamples);
    chars += text.length;
    const startMs = readTime(fields.get('startMs'), beganMs);
    beganMs = startMs;
    const endMs = readTime(fields.get('endMs'), startMs);
    const confidence = fields.get('confidence');
    if (chars > CHARS_MIN + CHARS_PER_SECOND * secondsOf(sentSamples)) {
      throw new InvalidAnswer('too much text for the audio');
    }
    const word = { text, startMs, endMs };
    return confidence === undefined ? word : { ...word, confidence: readConfidence(confidence) };
  });
}

export function wordsMax(sentSamples: number): number {
  return WORDS_MIN + WORDS_PER_SECOND * secondsOf(sentSamples);
}

/** A recogniser that rounds may name a little more audio than it got. */
export function readSamples(value: unknown, sentSamples: number): number {
  if (typeof value !== 'number' || !(value >= 0)) throw new InvalidAnswer('a number of samples');
  return Math.min(Math.round(value), sentSamples);
}

/** Names of weights are shown to operators. Null: the server doesn't name them. */
export function readBuild(value: unknown): string | null {
  if (value === undefined || value === '') return null;
  if (typeof value !== 'string' || !BUILD.test(value)) throw new InvalidAnswer('a build name');
  return value;
}

function readFields(value: unknown): ReadonlyMap<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new InvalidAnswer('not an object');
  return new Map(Object.entries(value));
}

function readCount(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new InvalidAnswer(what);
}

function readTime(value: unknown, fromMs: number): number {
  const timeMs = readCount(value, 'a time');
  if (timeMs < fromMs || timeMs > TIME_MS_MAX) throw new InvalidAnswer('a time out of order');
  return timeMs;
}

/** Nodes send it as a 32-bit float, which adds digits. */
function readConfidence(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) {
    throw new InvalidAnswer('a confidence');
  }
  return Math.round(value * 1000) / 1000;
}

function secondsOf(samples: number): number {
  return Math.ceil(samples / AUDIO.sampleRateHz);
}
