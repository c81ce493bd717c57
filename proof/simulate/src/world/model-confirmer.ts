import {
  HOP_SAMPLES,
  type VoiceConfirmer,
  type VoiceListener,
  type VoiceVerdicts,
} from '@svc-asr/engine/core.ts';
import type { Random } from '../virtual/random.ts';
import { SpeechReader } from './speech.ts';

/** Audio waits this long for its verdict, besides its own duration. */
const LATE_MS = 300;
const SAMPLES_PER_MS = 16;
const PROBABILITIES = { speech: 0.9, silence: 0.02 };
/** How often a verdict is too late. */
const LATE_SHARE = 0.02;

export interface ModelConfirmer extends VoiceConfirmer {
  /** Its process dies, or hangs until it is found out. Another one takes its place after a while. */
  lose(how: 'dies' | 'hangs', backAfterMs: number): void;
}

/** A second detector of simulated speech, with the rules of the real one: its verdicts can be late or missing. */
export function createModelConfirmer(random: Random): ModelConfirmer {
  const counts = { confirmed: 0, late: 0, absent: 0, restarts: 0 };
  const waiting = new Set<() => void>();
  let state: 'listens' | 'hangs' | 'is gone' = 'listens';

  function answer(verdicts: VoiceVerdicts, audioMs: number): Promise<VoiceVerdicts | null> {
    if (state !== 'listens') {
      counts.absent += 1;
      return Promise.resolve(null);
    }
    const isLate = random.chance(LATE_SHARE);
    const afterMs = isLate ? LATE_MS + audioMs : random.between(1, 90);
    return new Promise((resolve) => {
      const settle = (settled: VoiceVerdicts | null): void => {
        if (!waiting.delete(giveUp)) return;
        counts[settled === null ? 'late' : 'confirmed'] += 1;
        resolve(settled);
      };
      const giveUp = (): void => settle(null);
      waiting.add(giveUp);
      setTimeout(() => settle(isLate || state !== 'listens' ? null : verdicts), afterMs);
    });
  }

  function giveUpAll(): void {
    for (const giveUp of waiting) giveUp();
  }

  return {
    open: (startSample) => new ModelListener(startSample, answer),
    counts: () => counts,
    async close() {
      giveUpAll();
    },
    lose(how, backAfterMs) {
      if (state !== 'listens') return;
      state = how === 'dies' ? 'is gone' : 'hangs';
      counts.restarts += 1;
      if (how === 'dies') giveUpAll();
      else setTimeout(giveUpAll, LATE_MS).unref();
      setTimeout(() => (state = 'listens'), backAfterMs).unref();
    },
  };
}

/** Says of each whole hop whether it has speech. */
class ModelListener implements VoiceListener {
  readonly #answer: (verdicts: VoiceVerdicts, audioMs: number) => Promise<VoiceVerdicts | null>;
  #hopSample: number;
  #bytes = new Uint8Array(0);

  constructor(
    startSample: number,
    answer: (verdicts: VoiceVerdicts, audioMs: number) => Promise<VoiceVerdicts | null>,
  ) {
    this.#hopSample = startSample;
    this.#answer = answer;
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
    return this.#answer(verdicts, pcm.byteLength / 2 / SAMPLES_PER_MS);
  }

  close(): void {}
}

function probabilityOf(hop: Uint8Array): number {
  const reader = new SpeechReader();
  reader.read(hop);
  return reader.words().length > 0 ? PROBABILITIES.speech : PROBABILITIES.silence;
}
