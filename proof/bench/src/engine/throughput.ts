import { VoiceActivity, type Engine, type SherpaEngine } from '@svc-asr/engine';
import { SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import { ownCpuMs, percentile } from '@svc-asr/eval/statistics.ts';
import { cpuMsOf } from './processor.ts';
import { distinctUtterance, pcmOf, secondsOf, type UtterancePlan } from './utterances.ts';

/** The utterances of each stream. Streams run concurrently, utterances one after another. */
export type StreamPlans = readonly (readonly UtterancePlan[])[];

/** Recognises all of the plans and returns its processor time. */
export type Side = (plans: StreamPlans) => Promise<number>;

export interface SideRates {
  /** Seconds of audio per second of processor time: as many live streams as fill a core. */
  readonly rate: number;
  /** The rate as a part of the first side's. */
  readonly ratio: number;
}

export const FRAME_BYTES = 3_200;
const never = new AbortController().signal;

/** Plans in which each of the streams says the same number of utterances. Short ones repeat. */
export function planStreams(input: {
  readonly streams: number;
  readonly utterances: number;
  readonly sentences: number;
}): StreamPlans {
  const turns = Math.max(1, Math.round(input.utterances / input.streams));
  // Utterances alternate between the languages, and a stream has one language, so it takes every other utterance.
  const stride = Math.max(input.streams, 2);
  const distinct = SPEECH.length * (SPEECH.length / 2) ** (input.sentences - 1);
  return Array.from({ length: input.streams }, (_, at) =>
    Array.from({ length: turns }, (_, turn) =>
      distinctUtterance((turn * stride + at) % distinct, input.sentences),
    ),
  );
}

export function audioSeconds(plans: StreamPlans): number {
  return plans.flat().reduce((sum, plan) => sum + secondsOf(pcmOf(plan)), 0);
}

/**
 * Compares sides with the first one in alternating rounds, so that other load on the machine affects all equally. All
 * get the same audio in the same number of streams, one child against one process, and all their CPU time counts.
 */
export async function compareSides(
  sides: readonly Side[],
  input: { readonly plans: StreamPlans; readonly rounds: number },
): Promise<SideRates[]> {
  const audioS = audioSeconds(input.plans);
  const measured = sides.map((side) => ({ side, rates: [] as number[] }));
  // The first round is a warm-up.
  for (let round = 0; round <= input.rounds; round += 1) {
    for (const { side, rates } of round % 2 === 0 ? measured : measured.toReversed()) {
      const rate = audioS / ((await side(input.plans)) / 1000);
      if (round > 0) rates.push(rate);
    }
  }
  const bare = measured[0]?.rates ?? [];
  return measured.map(({ rates }) => {
    const ratios = rates.map((rate, at) => rate / (bare[at] ?? Number.NaN));
    return { rate: percentile(rates, 0.5), ratio: percentile(ratios, 0.5) };
  });
}

/** Measures the CPU time of parent and children while every stream sends as fast as it can. */
export function poolSide(
  pool: SherpaEngine,
  options: {
    readonly detecting?: boolean;
    /** What opens the streams, if not the pool itself. */
    readonly engine?: Engine;
  } = {},
): Side {
  const { engine = pool } = options;
  return async (plans) => {
    const pids = pool.children().map(({ pid }) => pid);
    const speakers = plans.map((said) => ({ model: said[0]?.model, utterances: said.map(pcmOf) }));
    const before = ownCpuMs() + cpuMsOf(pids);
    await Promise.all(
      speakers.map(async ({ model, utterances }) => {
        if (model === undefined) return;
        const stream = await engine.open({ model, signal: never });
        const events = stream.events[Symbol.asyncIterator]();
        const detector = options.detecting === true ? new VoiceActivity() : null;
        for (const speech of utterances) {
          for (let from = 0; from < speech.length; from += FRAME_BYTES) {
            const frame = speech.subarray(from, from + FRAME_BYTES);
            if (detector !== null) detect(detector, frame);
            await stream.write(frame);
          }
          stream.flush();
          while ((await events.next()).value?.type !== 'final');
        }
        await stream.close();
      }),
    );
    return ownCpuMs() + cpuMsOf(pids) - before;
  };
}

/** Runs the voice detector frame by frame, as the gateway does. */
function detect(detector: VoiceActivity, pcm: Uint8Array): void {
  const samples = new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength / 2);
  for (let at = 0; at < samples.length;) {
    const end = Math.min(samples.length, at + detector.missing);
    detector.push(samples.subarray(at, end));
    at = end;
  }
}
