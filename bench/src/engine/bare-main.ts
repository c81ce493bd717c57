import { BareRecogniser, toUtterance } from '@svc-asr/engine/test/bare.ts';
import { pcmOf, type UtterancePlan } from './utterances.ts';

/** For each speaker what is said, one utterance after the other; all speak at once. */
export type BareOrder = readonly (readonly UtterancePlan[])[];

export interface BareAnswer {
  readonly texts: readonly (readonly string[])[];
  readonly cpuMs: number;
  readonly decodesMs: readonly number[];
}

/** The bare part in a process of its own, so that its processor time is its own. */
const bare = await BareRecogniser.load();

function carryOut(order: BareOrder): BareAnswer {
  const speakers = order.map((plans) =>
    plans.map((plan) => toUtterance({ model: plan.model, pcm: pcmOf(plan) })),
  );
  bare.decodesMs.length = 0;
  const before = process.cpuUsage();
  const texts = bare.recogniseSpeakers(speakers);
  const { user, system } = process.cpuUsage(before);
  return { texts, cpuMs: (user + system) / 1000, decodesMs: bare.decodesMs };
}

process.on('message', (order: BareOrder) => process.send?.(carryOut(order)));
process.send?.('ready');
