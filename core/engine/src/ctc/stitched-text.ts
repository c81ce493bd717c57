import type { Transcript } from '../transcript.ts';
import type { Frames } from './best-labels.ts';
import { stableLengthOf, wordsOf, type Token } from './spoken-words.ts';
import type { CtcTokens } from './tokens.ts';
import type { WindowPlace } from './utterance-text.ts';

interface GrowingToken extends Token {
  lastFrame: number;
  logProbability: number;
}

/** Collapses labels as CTC does: repeated labels are merged unless a blank separates them. */
class Collapsed {
  readonly tokens: GrowingToken[] = [];
  #before: number;
  #frame: number;
  readonly #table: CtcTokens;

  constructor(table: CtcTokens, from?: Collapsed) {
    this.#table = table;
    this.#before = from === undefined ? table.blank : from.#before;
    this.#frame = from === undefined ? 0 : from.#frame;
    // A copy, because the last token may still grow here.
    if (from !== undefined) this.tokens = from.tokens.map((token) => ({ ...token }));
  }

  get frames(): number {
    return this.#frame;
  }

  add(frames: Frames, from: number, to: number): void {
    for (let at = from; at < to; at += 1) {
      const label = frames.labels[at] ?? this.#table.blank;
      const logProbability = frames.logProbabilities[at] ?? 0;
      const last = this.tokens.at(-1);
      if (label !== this.#table.blank && label === this.#before && last !== undefined) {
        last.lastFrame = this.#frame;
        last.logProbability = Math.max(last.logProbability, logProbability);
      } else if (label !== this.#table.blank) {
        const text = this.#table.texts[label] ?? '';
        const frame = this.#frame;
        this.tokens.push({ text, firstFrame: frame, lastFrame: frame, logProbability });
      }
      this.#before = label;
      this.#frame += 1;
    }
  }
}

/**
 * Stitches the text of an utterance from overlapping windows. Frames in the middle of a window are
 * final. Frames at its end lack right context and are shown as unstable until the next window replaces
 * them.
 */
export class StitchedText {
  readonly #table: CtcTokens;
  readonly #kept: Collapsed;
  #shown: Collapsed;

  constructor(table: CtcTokens) {
    this.#table = table;
    this.#kept = new Collapsed(table);
    this.#shown = this.#kept;
  }

  /** How many frames of the utterance are kept. */
  get keptFrames(): number {
    return this.#kept.frames;
  }

  /** Adds a window that begins at that frame of the utterance. Keeps frames before `keepTo`. */
  add(window: Frames, input: WindowPlace): void {
    const from = this.#kept.frames - input.firstFrame;
    const to = Math.max(from, Math.min(input.keepTo - input.firstFrame, window.labels.length));
    this.#kept.add(window, from, to);
    // A window slightly shorter than its last frame doesn't cover it.
    const missing = Math.max(0, input.keepTo - this.#kept.frames);
    const nothing = blanks(this.#table.blank, missing);
    this.#kept.add(nothing, 0, missing);
    this.#shown = new Collapsed(this.#table, this.#kept);
    this.#shown.add(window, Math.min(to, window.labels.length), window.labels.length);
  }

  peek(window: Frames, place: { firstFrame: number; audioMs: number }): Transcript {
    const shown = new Collapsed(this.#table, this.#kept);
    shown.add(window, this.#kept.frames - place.firstFrame, window.labels.length);
    return this.#transcriptOf(shown, place.audioMs);
  }

  transcript(audioMs: number): Transcript {
    return this.#transcriptOf(this.#shown, audioMs);
  }

  #transcriptOf(shown: Collapsed, audioMs: number): Transcript {
    const words = wordsOf(shown.tokens, audioMs);
    const text = words.map((word) => word.text).join(' ');
    return { text, words, stableLength: stableLengthOf(this.#kept.tokens) };
  }
}

function blanks(blank: number, count: number): Frames {
  return { labels: new Int32Array(count).fill(blank), logProbabilities: new Float32Array(count) };
}
