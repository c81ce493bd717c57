import { startSherpaEngine, type EngineEvent, type SherpaEngine } from '@svc-asr/engine';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import type { Campaign, CampaignOptions, CampaignResult } from '../campaign.ts';
import { Bare } from '../engine/bare.ts';
import { distinctUtterance, pcmOf, type UtterancePlan } from '../engine/utterances.ts';

const SENTENCES = 4;
const never = new AbortController().signal;
/** Some streams close in the middle of a word, so that their slots are reused while work is pending. */
const LEAVES_EARLY_EVERY = 3;

export const campaign: Campaign = {
  about: '200 concurrent streams on reused engine slots: no stream gets words of another',
  run,
};

interface Tally {
  finals: number;
  left: number;
  foreign: number;
  errors: number;
}

async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const concurrent = short ? 24 : 200;
  const tenancies = short ? 3 : 9;
  const plans = Array.from({ length: concurrent }, (_, at) => distinctUtterance(at, SENTENCES));
  const expected = await expectedTexts(plans);
  log(`${new Set(expected).size} distinct texts for ${concurrent} streams`);
  const engine = await startSherpaEngine({
    modelsDir: MODELS_DIR,
    children: 2,
    slotsPerChild: concurrent / 2,
  });
  const tally: Tally = { finals: 0, left: 0, foreign: 0, errors: 0 };
  try {
    await Promise.all(
      plans.map(async (_, first) => {
        for (let tenancy = 0; tenancy < tenancies; tenancy += 1) {
          // Never use the text that this slot had before.
          const at = (first + tenancy * 7) % concurrent;
          const plan = plans[at];
          if (plan === undefined) throw new RangeError('No such plan.');
          const leavesEarly = (first + tenancy) % LEAVES_EARLY_EVERY === 0;
          await speak({ engine, plan, expected: expected[at] ?? '', leavesEarly, tally });
        }
      }),
    );
  } finally {
    await engine.close();
  }
  const { finals, left, foreign, errors } = tally;
  const passed = foreign === 0 && errors === 0 && finals + left === concurrent * tenancies;
  return { passed, figures: { streams: concurrent, finals, left_early: left, foreign, errors } };
}

async function speak(input: {
  readonly engine: SherpaEngine;
  readonly plan: UtterancePlan;
  readonly expected: string;
  readonly leavesEarly: boolean;
  readonly tally: Tally;
}): Promise<void> {
  const { engine, plan, expected, leavesEarly, tally } = input;
  const stream = await engine.open({ model: plan.model, signal: never });
  const pcm = pcmOf(plan);
  const heard = listen(stream.events, { expected, tally });
  const sent = leavesEarly ? pcm.subarray(0, Math.floor(pcm.length / 4) * 2) : pcm;
  // Sixteen frames ahead of the engine, so that the slot is left with pending work.
  let pending: Promise<void>[] = [];
  for (let at = 0; at < sent.length; at += 3_200) {
    pending.push(stream.write(sent.subarray(at, at + 3_200)));
    if (pending.length < 16) continue;
    await Promise.all(pending);
    pending = [];
  }
  stream.flush();
  if (leavesEarly) tally.left += 1;
  else await heard;
  await stream.close();
  await heard;
}

/** Resolves at the final, error or end. Every delta must be a prefix of the expected text. */
async function listen(
  events: AsyncIterable<EngineEvent>,
  { expected, tally }: { expected: string; tally: Tally },
): Promise<void> {
  for await (const event of events) {
    if (event.type === 'error') {
      tally.errors += 1;
      return;
    }
    if (!expected.startsWith(event.text)) tally.foreign += 1;
    if (event.type !== 'final') continue;
    tally.finals += 1;
    if (event.text !== expected) tally.foreign += 1;
    return;
  }
}

async function expectedTexts(plans: readonly UtterancePlan[]): Promise<string[]> {
  const bare = await Bare.start();
  try {
    // One at a time, so that nothing is shared.
    const { texts } = await bare.recognise([plans]);
    return texts.flat();
  } finally {
    await bare.stop();
  }
}
