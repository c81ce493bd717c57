import { CtcRecogniser } from '@svc-asr/engine';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { STAND_IN } from '@svc-asr/testing/speech/stand-in.ts';
import { pcmOf, type UtterancePlan } from './utterances.ts';

/** The texts that an utterance has on its way, by the number of samples decoded, and its final text. */
export interface StitchedTexts {
  readonly bySamples: ReadonlyMap<number, string>;
  readonly final: string;
}

/** Stitches each utterance in this process, one at a time, without scheduler, frames and child. */
export async function stitchedTexts(plans: readonly UtterancePlan[]): Promise<StitchedTexts[]> {
  const recogniser = await CtcRecogniser.load(STAND_IN);
  const texts: StitchedTexts[] = [];
  for (const plan of plans) texts.push(await stitched(recogniser, plan));
  return texts;
}

async function stitched(recogniser: CtcRecogniser, plan: UtterancePlan): Promise<StitchedTexts> {
  const { samples } = toUtterance({ model: plan.model, pcm: pcmOf(plan) });
  const utterance = recogniser.begin();
  const bySamples = new Map<number, string>();
  for (let at = 0; at < samples.length; at += CHUNK_SAMPLES) {
    utterance.accept(samples.subarray(at, at + CHUNK_SAMPLES));
    if (!utterance.ready) continue;
    await utterance.decode();
    bySamples.set(utterance.samples, utterance.transcript().text);
  }
  utterance.finish();
  while (utterance.ready) await utterance.decode();
  return { bySamples, final: utterance.transcript().text };
}
