import { BareRecogniser } from '@svc-asr/engine/test/bare.ts';
import { pcmOf, type UtterancePlan } from './utterances.ts';

/** Utterances that are recognised together, and then the next ones. */
export type BareOrder = readonly (readonly UtterancePlan[])[];

export interface BareAnswer {
  readonly texts: readonly (readonly string[])[];
  readonly cpuMs: number;
  readonly decodesMs: readonly number[];
}

/** The bare part in a process of its own, so that its processor time is its own. */
const bare = await BareRecogniser.load();

function carryOut(order: BareOrder): BareAnswer {
  const turns = order.map((plans) => plans.map((plan) => ({ ...plan, pcm: pcmOf(plan) })));
  bare.decodesMs.length = 0;
  const before = process.cpuUsage();
  const texts = turns.map((utterances) => bare.recognise(utterances));
  const { user, system } = process.cpuUsage(before);
  return { texts, cpuMs: (user + system) / 1000, decodesMs: bare.decodesMs };
}

process.on('message', (order: BareOrder) => process.send?.(carryOut(order)));
process.send?.('ready');
