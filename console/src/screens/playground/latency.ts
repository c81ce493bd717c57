import { AUDIO } from '@svc-asr/protocol/constants.ts';

/** Records when each part of the audio was sent, to measure the latency of a delta. */
export class LatencyMeter {
  readonly #sent: { readonly endMs: number; readonly at: number }[] = [];
  #sentMs = 0;

  onSent(samples: number, at: number): void {
    this.#sentMs += (samples * 1_000) / AUDIO.sampleRateHz;
    this.#sent.push({ endMs: this.#sentMs, at });
  }

  /** Returns the time since the last audio covered by the text was sent, or null if unknown. */
  onText(audioMs: number, now: number): number | null {
    while ((this.#sent[1]?.endMs ?? Infinity) <= audioMs) this.#sent.shift();
    const last = this.#sent[0];
    if (last === undefined || last.endMs > audioMs + 200) return null;
    return Math.max(0, now - last.at);
  }
}
