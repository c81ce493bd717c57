import { BareRecogniser, toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
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

function runOrder(order: BareOrder): BareAnswer {
  const speakers = order.map((plans) =>
    plans.map((plan) => toUtterance({ model: plan.model, pcm: pcmOf(plan) })),
  );
  bare.decodesMs.length = 0;
  const before = process.cpuUsage();
  const texts = bare.recogniseSpeakers(speakers);
  const { user, system } = process.cpuUsage(before);
  return { texts, cpuMs: (user + system) / 1000, decodesMs: bare.decodesMs };
}

process.on('message', (order: BareOrder) => process.send?.(runOrder(order)));
process.send?.('ready');
