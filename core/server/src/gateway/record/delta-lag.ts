import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol';

const MARK_EVERY_SAMPLES = AUDIO.sampleRateHz / 20;
/** Maximum number of marks for audio that no delta has covered yet: ten seconds of speech. */
const MARKS_MAX = 200;
/** A speaker whose network paused may send this much at once and still counts as live. */
const CATCH_UP_MS = (3 * CHUNK_SAMPLES * 1000) / AUDIO.sampleRateHz;

interface Mark {
  readonly utterance: number;
  readonly samples: number;
  readonly atMs: number;
}

/**
 * Measures the lag of deltas from the arrival of the audio they cover. Audio sent faster than real time
 * counts as arriving in real time, because its sender waits for its own backlog.
 */
export class DeltaLag {
  #utterance = 0;
  #samples = 0;
  #markedSamples = 0;
  #spokenAtMs = 0;
  #marks: Mark[] = [];

  onAudio(samples: number, nowMs: number): void {
    this.#samples += samples;
    const lastedMs = (samples * 1000) / AUDIO.sampleRateHz;
    this.#spokenAtMs = Math.max(this.#spokenAtMs, nowMs - CATCH_UP_MS) + lastedMs;
    if (this.#samples - this.#markedSamples < MARK_EVERY_SAMPLES) return;
    this.#markedSamples = this.#samples;
    const atMs = Math.max(nowMs, this.#spokenAtMs);
    this.#marks.push({ utterance: this.#utterance, samples: this.#samples, atMs });
    if (this.#marks.length > MARKS_MAX) this.#marks.shift();
  }

  /** After a flush or a reset. */
  nextUtterance(): void {
    this.#utterance += 1;
    this.#samples = 0;
    this.#markedSamples = 0;
  }

  /** Returns the lag of a delta, or null if it covers no new audio. */
  onDelta(
    delta: { readonly utterance: number; readonly samples: number },
    nowMs: number,
  ): number | null {
    const isCovered = ({ utterance, samples }: Mark): boolean =>
      utterance < delta.utterance || (utterance === delta.utterance && samples <= delta.samples);
    const at = this.#marks.findIndex((mark) => !isCovered(mark));
    const covered = this.#marks.splice(0, at === -1 ? this.#marks.length : at).at(-1);
    if (covered?.utterance !== delta.utterance) return null;
    return Math.max(0, nowMs - covered.atMs);
  }
}
