import { AUDIO, type ServerEvent } from '@svc-asr/protocol';
import { findWrongEncoding } from './audio-encoding.ts';
import { findWrongLayout, findWrongRate, FORMAT_HINTS } from './audio-format.ts';
import { ADTS_BYTES, findAdts, findContainer, HEAD_BYTES } from './audio-containers.ts';
import { FIRST_SECOND_BYTES, judgeFirstSecond } from './first-second.ts';

/** Silence is skipped in blocks of 75 ms. Two channels, and samples of 2, 3, 4, 6 or 8 bytes, stay in step. */
const BLOCK_SAMPLES = 1_200;
/** Half a second and a second of sound, in whole blocks, so that each is reached once. */
const ENCODING_SAMPLES = 7 * BLOCK_SAMPLES;
const LAYOUT_SAMPLES = 14 * BLOCK_SAMPLES;
const RATE_SAMPLES = 2 * AUDIO.sampleRateHz;
/** Root mean square of a block below which it is silence. */
const SILENCE_LEVEL = 200;
/** Checking stops if the stream has had less than two seconds of sound by then. */
const WATCHED_SAMPLES_MAX = 30 * AUDIO.sampleRateHz;

type StatusEvent = ServerEvent & { readonly type: 'status' };

/** Looks for signs of a wrong format in the first second and in the first two seconds of sound. Warns once at most. */
export class AudioCheck {
  /** Both are allocated with the first audio, so that an idle connection costs nothing. */
  #first: Uint8Array | null = null;
  #sound: Int16Array | null = null;
  #isOver = false;
  #seenBytes = 0;
  #filled = 0;
  #watched = 0;

  /** True when the check is finished. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Returns the warning at the moment a wrong format is recognised, else null. */
  examine(pcm: Uint8Array): StatusEvent | null {
    if (this.#isOver) return null;
    const hint = this.#examineStart(pcm) ?? this.#examineSound(pcm) ?? this.#examineSecond();
    const isDone = hint !== null || this.#filled === RATE_SAMPLES;
    if (isDone || this.#watched >= WATCHED_SAMPLES_MAX) this.#end();
    if (hint === null) return null;
    const message = 'The audio does not look like 16 kHz mono 16-bit PCM speech.';
    return { type: 'status', message, code: 'suspicious_audio', hint };
  }

  #end(): void {
    this.#isOver = true;
    this.#first = null;
    this.#sound = null;
  }

  /** Files and AAC, by their first bytes. */
  #examineStart(pcm: Uint8Array): string | null {
    const before = this.#seenBytes;
    if (before === FIRST_SECOND_BYTES) return null;
    const first = (this.#first ??= new Uint8Array(FIRST_SECOND_BYTES));
    const part = pcm.subarray(0, FIRST_SECOND_BYTES - before);
    first.set(part, before);
    const seen = (this.#seenBytes = before + part.byteLength);
    const file = before < HEAD_BYTES ? findContainer(first.subarray(0, seen)) : null;
    if (file !== null || before >= ADTS_BYTES || seen < ADTS_BYTES) return file;
    return findAdts(first.subarray(0, seen));
  }

  /** Zeros, text and clipping. Comes after the other checks, whose hints are more precise. */
  #examineSecond(): string | null {
    const first = this.#first;
    if (first === null || this.#seenBytes < FIRST_SECOND_BYTES) return null;
    this.#first = null;
    return judgeFirstSecond(first);
  }

  #examineSound(pcm: Uint8Array): string | null {
    const sound = (this.#sound ??= new Int16Array(RATE_SAMPLES));
    const before = this.#filled;
    this.#collect(sound, pcm);
    const hasReached = (samples: number): boolean => before < samples && this.#filled >= samples;
    let wrong: keyof typeof FORMAT_HINTS | null = null;
    for (const samples of [ENCODING_SAMPLES, LAYOUT_SAMPLES]) {
      if (!hasReached(samples)) continue;
      wrong ??= findWrongEncoding(sound.subarray(0, samples));
    }
    if (hasReached(LAYOUT_SAMPLES)) wrong ??= findWrongLayout(sound.subarray(0, LAYOUT_SAMPLES));
    if (hasReached(RATE_SAMPLES)) wrong ??= findWrongRate(sound);
    return wrong === null ? null : FORMAT_HINTS[wrong];
  }

  #collect(sound: Int16Array, pcm: Uint8Array): void {
    let filled = this.#filled;
    const before = filled;
    let skipped = 0;
    for (let at = 0; at + 1 < pcm.byteLength && filled < RATE_SAMPLES;) {
      const blockEnd = filled - (filled % BLOCK_SAMPLES) + BLOCK_SAMPLES;
      const end = Math.min(blockEnd, RATE_SAMPLES, filled + ((pcm.byteLength - at) >> 1));
      for (; filled < end; filled += 1, at += 2) {
        sound[filled] = (pcm[at] ?? 0) | ((pcm[at + 1] ?? 0) << 8);
      }
      if (filled === blockEnd && isSilent(sound, filled)) {
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
