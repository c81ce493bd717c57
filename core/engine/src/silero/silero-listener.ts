import { AUDIO } from '@svc-asr/protocol/constants.ts';
import { HOP_SAMPLES, type VoiceVerdicts } from '../voice-activity/confirmation.ts';
import type { VoiceListener } from '../voice-activity/confirmer.ts';
import { SileroStream, STEP_SAMPLES, type Silero } from './silero.ts';

/** Audio is live until it is this far ahead of real time. Networks deliver in bursts. */
const AHEAD_MS_MAX = 1_000;
const SAMPLES_PER_MS = AUDIO.sampleRateHz / 1_000;

interface Part {
  rest: Int16Array;
  probabilities: readonly number[];
  readonly resolve: (verdicts: VoiceVerdicts | null) => void;
}

export interface SileroListenerInput {
  readonly silero: Pick<Silero, 'examine'>;
  readonly startSample: number;
  /** Called when `examine` has something to do. It is called once for each call of `examine`. */
  readonly onWaiting: (listener: SileroListener) => void;
}

/** The audio of one stream on its way to the network. */
export class SileroListener implements VoiceListener {
  readonly #onWaiting: (listener: SileroListener) => void;
  readonly #stream: SileroStream;
  #halfSample: number | null = null;
  #parts: Part[] = [];
  #isWaiting = false;
  /** Where the next hop, and the next audio, begin. */
  #hopSample: number;
  #atSample: number;
  #aheadMs = 0;
  #aheadAtMs = 0;

  constructor({ silero, startSample, onWaiting }: SileroListenerInput) {
    this.#stream = new SileroStream(silero);
    this.#onWaiting = onWaiting;
    this.#hopSample = startSample;
    this.#atSample = startSample;
  }

  get isLive(): boolean {
    return this.#aheadMs - (performance.now() - this.#aheadAtMs) <= AHEAD_MS_MAX;
  }

  listen(pcm: Uint8Array): Promise<VoiceVerdicts | null> {
    const rest = this.#samplesOf(pcm);
    const nowMs = performance.now();
    this.#aheadMs =
      Math.max(0, this.#aheadMs - (nowMs - this.#aheadAtMs)) + rest.length / SAMPLES_PER_MS;
    this.#aheadAtMs = nowMs;
    this.#atSample += rest.length;
    const { promise, resolve } = Promise.withResolvers<VoiceVerdicts | null>();
    this.#parts.push({ rest, probabilities: [], resolve });
    this.#wait();
    return promise;
  }

  skip(): void {
    const skipped = this.#parts.splice(0);
    if (skipped.length === 0) return;
    this.#stream.restart();
    this.#hopSample = this.#atSample;
    for (const { resolve } of skipped) resolve(null);
  }

  /** Examines the next audio. */
  examine(): void {
    this.#isWaiting = false;
    const part = this.#parts[0];
    if (part === undefined) return;
    const found = this.#stream.push(part.rest.subarray(0, STEP_SAMPLES));
    part.probabilities = part.probabilities.length === 0 ? found : part.probabilities.concat(found);
    part.rest = part.rest.subarray(STEP_SAMPLES);
    if (part.rest.length === 0) {
      this.#parts.shift();
      const startSample = this.#hopSample;
      this.#hopSample += part.probabilities.length * HOP_SAMPLES;
      part.resolve({ startSample, probabilities: Float32Array.from(part.probabilities) });
    }
    if (this.#parts.length > 0) this.#wait();
  }

  #wait(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#onWaiting(this);
  }

  #samplesOf(pcm: Uint8Array): Int16Array {
    const carried = this.#halfSample === null ? [] : [this.#halfSample];
    let bytes = pcm;
    if (carried.length > 0 || pcm.byteOffset % AUDIO.bytesPerSample !== 0) {
      bytes = new Uint8Array(carried.length + pcm.byteLength);
      bytes.set(carried);
      bytes.set(pcm, carried.length);
    }
    const isOdd = bytes.length % AUDIO.bytesPerSample !== 0;
    this.#halfSample = isOdd ? (bytes.at(-1) ?? null) : null;
    return new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1);
  }
}
