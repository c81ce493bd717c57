import { AUDIO } from '@svc-asr/protocol/constants.ts';
import { HOP_SAMPLES, type VoiceVerdicts } from '../voice-activity/confirmation.ts';
import type { VoiceListener } from '../voice-activity/confirmer.ts';

/** A question has at most this much audio, so that a client that sends fast doesn't delay the others. Half a second. */
const ASKED_SAMPLES_MAX = 16 * HOP_SAMPLES;
const SAMPLES_PER_MS = AUDIO.sampleRateHz / 1_000;

interface Part {
  readonly samples: Int16Array;
  readonly startSample: number;
  readonly sinceMs: number;
  /** The last part of what was given at once. */
  readonly isLast: boolean;
}

interface Waiting {
  readonly verdicts: VoiceVerdicts[];
  readonly resolve: (verdicts: VoiceVerdicts | null) => void;
}

export interface SileroListenerInput {
  readonly id: number;
  readonly startSample: number;
  /** False: nobody listens, or the answers are late. */
  readonly isListening: () => boolean;
  readonly onWaiting: (listener: SileroListener) => void;
  readonly onResult: (result: 'confirmed' | 'late' | 'absent') => void;
  readonly onClose: (listener: SileroListener) => void;
}

/** The audio of one stream on its way to the model. */
export class SileroListener implements VoiceListener {
  readonly id: number;
  readonly #input: SileroListenerInput;
  #halfSample: number | null = null;
  #atSample: number;
  #parts: Part[] = [];
  #waiting: Waiting[] = [];
  /** Where the next hop of the model starts. */
  #hopSample = 0;
  /** The sample that would continue what the model got. Null before its first part, and after an abandoned one. */
  #nextSample: number | null = null;
  #asked: readonly Part[] = [];

  constructor(input: SileroListenerInput) {
    this.#input = input;
    this.id = input.id;
    this.#atSample = input.startSample;
  }

  listen(pcm: Uint8Array): Promise<VoiceVerdicts | null> {
    const samples = this.#samplesOf(pcm);
    const startSample = this.#atSample;
    this.#atSample += samples.length;
    if (!this.#input.isListening()) {
      this.#input.onResult('absent');
      return Promise.resolve(null);
    }
    if (samples.length === 0) return Promise.resolve(null);
    const sinceMs = performance.now();
    for (let at = 0; at < samples.length; at += ASKED_SAMPLES_MAX) {
      const end = Math.min(samples.length, at + ASKED_SAMPLES_MAX);
      const part = { samples: samples.subarray(at, end), startSample: startSample + at, sinceMs };
      this.#parts.push({ ...part, isLast: end === samples.length });
    }
    const { promise, resolve } = Promise.withResolvers<VoiceVerdicts | null>();
    this.#waiting.push({ verdicts: [], resolve });
    this.#input.onWaiting(this);
    return promise;
  }

  close(): void {
    this.abandon('absent');
    this.#input.onClose(this);
  }

  get isWaiting(): boolean {
    return this.#parts.length > 0;
  }

  /**
   * The next audio for the model. Null while an answer is awaited. All of it that waits: with one message per question, a
   * client that sends small ones would fall behind.
   */
  ask(): { samples: Int16Array; isFresh: boolean } | null {
    const [first] = this.#parts;
    if (this.#asked.length > 0 || first === undefined) return null;
    this.#asked = this.#parts.splice(0, joinable(this.#parts));
    const isFresh = first.startSample !== this.#nextSample;
    if (isFresh) this.#hopSample = first.startSample;
    const samples = samplesOf(this.#asked);
    this.#nextSample = first.startSample + samples.length;
    return { samples, isFresh };
  }

  answer(probabilities: Float32Array): void {
    let from = 0;
    for (const part of this.#asked) {
      const endSample = part.startSample + part.samples.length;
      const hops = Math.floor((endSample - this.#hopSample) / HOP_SAMPLES);
      this.#give(part, probabilities.slice(from, from + hops));
      from += hops;
    }
    this.#asked = [];
  }

  #give(part: Part, probabilities: Float32Array): void {
    const startSample = this.#hopSample;
    this.#hopSample += probabilities.length * HOP_SAMPLES;
    // Nobody waits for it any more if it was late.
    const waiting = this.#waiting[0];
    if (waiting === undefined) return;
    waiting.verdicts.push({ startSample, probabilities });
    if (!part.isLast) return;
    this.#waiting.shift();
    this.#input.onResult('confirmed');
    waiting.resolve(joined(waiting.verdicts));
  }

  /** How much longer the oldest part has waited than it may. The audio behind it doesn't count, or the wait would grow. */
  overdueMs(graceMs: number): number {
    const oldest = this.#asked[0] ?? this.#parts[0];
    if (oldest === undefined || this.#waiting.length === 0) return -Infinity;
    const audioMs = oldest.samples.length / SAMPLES_PER_MS;
    return performance.now() - oldest.sinceMs - graceMs - audioMs;
  }

  /** Gives up on all audio that waits. */
  abandon(result: 'late' | 'absent'): void {
    this.#parts = [];
    this.#asked = [];
    this.#nextSample = null;
    for (const { resolve } of this.#waiting.splice(0)) {
      this.#input.onResult(result);
      resolve(null);
    }
  }

  /** A copy: the socket owns the bytes. */
  #samplesOf(pcm: Uint8Array): Int16Array {
    const carried = this.#halfSample === null ? [] : [this.#halfSample];
    const bytes = new Uint8Array(carried.length + pcm.byteLength);
    bytes.set(carried);
    bytes.set(pcm, carried.length);
    const isOdd = bytes.length % AUDIO.bytesPerSample !== 0;
    this.#halfSample = isOdd ? (bytes.at(-1) ?? null) : null;
    return new Int16Array(bytes.buffer, 0, bytes.length >> 1);
  }
}

/** How many parts follow each other without a gap and fit into one question. */
function joinable(parts: readonly Part[]): number {
  const start = parts[0]?.startSample ?? 0;
  let end = start;
  for (const [at, { startSample, samples }] of parts.entries()) {
    const fits = startSample === end && startSample + samples.length - start <= ASKED_SAMPLES_MAX;
    if (!fits) return at;
    end += samples.length;
  }
  return parts.length;
}

function samplesOf(parts: readonly Part[]): Int16Array {
  const all = new Int16Array(parts.reduce((sum, { samples }) => sum + samples.length, 0));
  const first = parts[0]?.startSample ?? 0;
  for (const { samples, startSample } of parts) all.set(samples, startSample - first);
  return all;
}

function joined(all: readonly VoiceVerdicts[]): VoiceVerdicts {
  const probabilities = Float32Array.from(all.flatMap((each) => [...each.probabilities]));
  return { startSample: all[0]?.startSample ?? 0, probabilities };
}
