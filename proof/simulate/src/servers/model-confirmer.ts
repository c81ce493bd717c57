import {
  HOP_SAMPLES,
  type VoiceConfirmer,
  type VoiceListener,
  type VoiceVerdicts,
} from '@svc-asr/engine/core.ts';
import type { Random } from '../virtual/random.ts';
import { SpeechReader } from './speech.ts';

const PROBABILITIES = { speech: 0.9, silence: 0.02 };

/** A second detector of simulated speech. Its verdicts take a while, as on a busy node, or are skipped. */
export function createModelConfirmer(random: Random): VoiceConfirmer {
  return { open: ({ startSample }) => new ModelListener(startSample, random) };
}

/** Says of each whole hop whether it has speech. */
class ModelListener implements VoiceListener {
  readonly #random: Random;
  readonly #waiting = new Set<(verdicts: VoiceVerdicts | null) => void>();
  #hopSample: number;
  #bytes = new Uint8Array(0);

  constructor(startSample: number, random: Random) {
    this.#hopSample = startSample;
    this.#random = random;
  }

  listen(pcm: Uint8Array): Promise<VoiceVerdicts | null> {
    const bytes = new Uint8Array(this.#bytes.byteLength + pcm.byteLength);
    bytes.set(this.#bytes);
    bytes.set(pcm, this.#bytes.byteLength);
    const hops = Math.floor(bytes.byteLength / (2 * HOP_SAMPLES));
    const probabilities = Float32Array.from({ length: hops }, (_, at) =>
      probabilityOf(bytes.subarray(2 * at * HOP_SAMPLES, 2 * (at + 1) * HOP_SAMPLES)),
    );
    const verdicts = { startSample: this.#hopSample, probabilities };
    this.#bytes = bytes.slice(2 * hops * HOP_SAMPLES);
    this.#hopSample += hops * HOP_SAMPLES;
    const { promise, resolve } = Promise.withResolvers<VoiceVerdicts | null>();
    this.#waiting.add(resolve);
    setTimeout(
      () => {
        this.#waiting.delete(resolve);
        resolve(verdicts);
      },
      this.#random.between(1, 90),
    );
    return promise;
  }

  skip(): void {
    for (const resolve of this.#waiting) resolve(null);
    this.#waiting.clear();
  }
}

function probabilityOf(hop: Uint8Array): number {
  const reader = new SpeechReader();
  reader.read(hop);
  return reader.words().length > 0 ? PROBABILITIES.speech : PROBABILITIES.silence;
}
