import { AUDIO } from '@svc-asr/protocol/constants.ts';

/** How old words were when they appeared: from the end of the word in the microphone to its text on the screen. */
export interface Ages {
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** More than a session of the longest kind has. */
const WORDS_MAX = 1_000;
const CAPTURES_MAX = 5_000;

export class WordAges {
  /** When each part of the session's audio was captured. */
  readonly #captured: { readonly endMs: number; readonly at: number }[] = [];
  /** When each word of the current utterance first appeared. */
  #seenAt: number[] = [];
  #ages: number[] = [];
  #capturedMs = 0;

  get capturedMs(): number {
    return this.#capturedMs;
  }

  onCaptured(samples: number, at: number): void {
    this.#capturedMs += (samples * 1_000) / AUDIO.sampleRateHz;
    this.#captured.push({ endMs: this.#capturedMs, at });
    if (this.#captured.length > CAPTURES_MAX) this.#captured.shift();
  }

  onText(text: string, now: number): void {
    const words = text.split(' ').filter((word) => word !== '').length;
    while (this.#seenAt.length < words) this.#seenAt.push(now);
  }

  /** The times of words are known only now. A word that no delta had appears with the final. */
  onFinal(words: readonly { readonly end_ms: number }[], now: number): Ages | null {
    for (const [index, { end_ms }] of words.entries()) {
      const spoken = this.#captured.find(({ endMs }) => endMs >= end_ms);
      if (spoken !== undefined) {
        this.#ages.push(Math.max(0, (this.#seenAt[index] ?? now) - spoken.at));
      }
    }
    this.#ages = this.#ages.slice(-WORDS_MAX);
    this.#seenAt = [];
    return this.#ages.length === 0 ? null : { p50Ms: this.#at(0.5), p95Ms: this.#at(0.95) };
  }

  #at(share: number): number {
    const sorted = this.#ages.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  }
}
