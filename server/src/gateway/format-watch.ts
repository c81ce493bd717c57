import { AUDIO } from '@svc-asr/protocol';
import { findWrongLayout, findWrongRate, type WrongFormat } from './audio-format.ts';

const LAYOUT_SAMPLES = AUDIO.sampleRateHz;
const RATE_SAMPLES = 2 * AUDIO.sampleRateHz;
/** Silence is skipped in blocks of 100 ms. The length is even, so that two channels stay in step. */
const BLOCK_SAMPLES = AUDIO.sampleRateHz / 10;
/** Root mean square of a block below which it is silence. */
const SILENCE_LEVEL = 200;
/** Checking stops if the stream has had less than two seconds of sound by then. */
const WATCHED_SAMPLES_MAX = 30 * AUDIO.sampleRateHz;

/** Collects the first two seconds of sound and looks for signs of a wrong format. */
export class FormatWatch {
  /** Allocated with the first audio, so that an idle connection costs nothing. */
  #sound: Int16Array | null = null;
  #isOver = false;
  #filled = 0;
  #watched = 0;
  #isLayoutChecked = false;

  /** True when the check is finished. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Returns the wrong format at the moment it is recognised, else null. */
  examine(pcm: Uint8Array): WrongFormat | null {
    if (this.#isOver) return null;
    const sound = (this.#sound ??= new Int16Array(RATE_SAMPLES));
    this.#collect(sound, pcm);
    let wrong: WrongFormat | null = null;
    if (!this.#isLayoutChecked && this.#filled >= LAYOUT_SAMPLES) {
      this.#isLayoutChecked = true;
      wrong = findWrongLayout(sound.subarray(0, LAYOUT_SAMPLES));
    }
    if (wrong === null && this.#filled === RATE_SAMPLES) wrong = findWrongRate(sound);
    const isDone = wrong !== null || this.#filled === RATE_SAMPLES;
    if (isDone || this.#watched >= WATCHED_SAMPLES_MAX) this.#end();
    return wrong;
  }

  #end(): void {
    this.#isOver = true;
    this.#sound = null;
  }

  #collect(sound: Int16Array, pcm: Uint8Array): void {
    let filled = this.#filled;
    const before = filled;
    let skipped = 0;
    for (let at = 0; at + 1 < pcm.byteLength && filled < RATE_SAMPLES; at += 2) {
      sound[filled] = (pcm[at] ?? 0) | ((pcm[at + 1] ?? 0) << 8);
      filled += 1;
      if (filled % BLOCK_SAMPLES === 0 && isSilent(sound, filled)) {
        filled -= BLOCK_SAMPLES;
        skipped += BLOCK_SAMPLES;
      }
    }
    this.#watched += filled + skipped - before;
    this.#filled = filled;
  }
}

function isSilent(sound: Int16Array, end: number): boolean {
  let energy = 0;
  for (let at = end - BLOCK_SAMPLES; at < end; at += 1) energy += (sound[at] ?? 0) ** 2;
  return energy < SILENCE_LEVEL * SILENCE_LEVEL * BLOCK_SAMPLES;
}
