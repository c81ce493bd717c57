import { ownCpuMs } from '@svc-asr/eval/statistics.ts';
import { BareRecogniser, toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { answerOrders } from '../measured-process.ts';
import type { StreamPlans } from './throughput.ts';
import { pcmOf } from './utterances.ts';

export type BareOrder = StreamPlans;

export interface BareAnswer {
  readonly texts: readonly (readonly string[])[];
  readonly cpuMs: number;
  readonly decodesMs: readonly number[];
}

/** Runs the bare recogniser in its own process, so that its CPU time can be measured. */
const bare = await BareRecogniser.load(process.argv[2]);

async function runOrder(order: BareOrder): Promise<BareAnswer> {
  const speakers = order.map((plans) =>
    plans.map((plan) => toUtterance({ model: plan.model, pcm: pcmOf(plan) })),
  );
  bare.decodesMs.length = 0;
  const beforeMs = ownCpuMs();
  const texts = bare.recogniseSpeakers(speakers);
  return { texts, cpuMs: ownCpuMs() - beforeMs, decodesMs: bare.decodesMs };
}

answerOrders(runOrder);
