import { AUDIO, LIMITS } from '@svc-asr/protocol/constants.ts';

/** Enough for a long run. The rest is recognised but can't be played. */
const SAMPLES_MAX = 2 * LIMITS.audioSecondsMax * AUDIO.sampleRateHz;

/** The audio of a run, in the memory of this page until the next run. */
export class Recording {
  #parts: Int16Array[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(samples: Int16Array): void {
    if (this.#length >= SAMPLES_MAX) return;
    this.#parts.push(samples);
    this.#length += samples.length;
  }

  /** Drops what was captured but not accepted, so that the audio of a continued run starts where its words do. */
  cutAt(ms: number): void {
    const kept = this.samples().subarray(0, Math.round((ms * AUDIO.sampleRateHz) / 1_000));
    this.#parts = [kept];
    this.#length = kept.length;
  }

  samples(): Int16Array {
    const all = new Int16Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}
