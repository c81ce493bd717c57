import { AUDIO } from '@svc-asr/protocol/constants.ts';

/** When each moment of the audio left this page: what a delta covers can then be dated. */
export class LatencyMeter {
  readonly #sent: { readonly endMs: number; readonly at: number }[] = [];
  #sentMs = 0;

  onSent(samples: number, at: number): void {
    this.#sentMs += (samples * 1_000) / AUDIO.sampleRateHz;
    this.#sent.push({ endMs: this.#sentMs, at });
  }

  /** From the last sound that the text covers to now; null when that sound is not known. */
  onHeard(audioMs: number, now: number): number | null {
    while ((this.#sent[1]?.endMs ?? Infinity) <= audioMs) this.#sent.shift();
    const last = this.#sent[0];
    if (last === undefined || last.endMs > audioMs + 200) return null;
    return Math.max(0, now - last.at);
  }
}
