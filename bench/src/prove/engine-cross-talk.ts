import { rm } from 'node:fs/promises';
import { startSherpaEngine, type EngineEvent, type SherpaEngine } from '@svc-asr/engine';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import { standInModels } from '@svc-asr/testing/speech/stand-in.ts';
import type { Campaign, CampaignOptions, CampaignResult } from '../campaign.ts';
import { startBare } from '../engine/bare.ts';
import { stitchedTexts } from '../engine/bare-ctc.ts';
import { distinctUtterance, pcmOf, type UtterancePlan } from '../engine/utterances.ts';

const never = new AbortController().signal;
/** Some streams close in the middle of a word, so that their slots are reused while work is pending. */
const LEAVES_EARLY_EVERY = 3;
/** Streams, utterances one after another on each, and sentences. The offline model costs four times as much. */
const SIZES = {
  transducer: { long: [200, 9, 4], short: [24, 3, 4] },
  ctc: { long: [100, 6, 3], short: [12, 3, 2] },
} as const;

export const campaign: Campaign = {
  about: 'concurrent streams on reused engine slots, both engines: no stream gets words of another',
  run,
};

interface Tally {
  finals: number;
  left: number;
  foreign: number;
  errors: number;
}

/** True when an event belongs to this utterance. */
type Owns = (event: Extract<EngineEvent, { text: string }>) => boolean;

interface Speech {
  readonly plan: UtterancePlan;
  readonly text: string;
  readonly owns: Owns;
}

async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const form = short ? 'short' : 'long';
  const streamed = SIZES.transducer[form];
  const transducer = await crossTalk({
    modelsDir: MODELS_DIR,
    speeches: await transducerSpeeches(streamed),
    tenancies: streamed[1],
    log,
  });
  const stitched = SIZES.ctc[form];
  const modelsDir = standInModels();
  try {
    const speeches = await ctcSpeeches(stitched);
    const ctc = await crossTalk({ modelsDir, speeches, tenancies: stitched[1], log });
    const named = Object.entries(ctc.figures).map(([name, value]) => [`ctc_${name}`, value]);
    return {
      passed: transducer.passed && ctc.passed,
      figures: { ...transducer.figures, ...Object.fromEntries(named) },
    };
  } finally {
    await rm(modelsDir, { recursive: true });
  }
}

async function crossTalk(input: {
  readonly modelsDir: string;
  readonly speeches: readonly Speech[];
  readonly tenancies: number;
  readonly log: (line: string) => void;
}): Promise<CampaignResult> {
  const { modelsDir, speeches, tenancies } = input;
  const streams = speeches.length;
  const texts = new Set(speeches.map(({ text }) => text));
  input.log(`${texts.size} distinct texts for ${streams} streams`);
  const engine = await startSherpaEngine({ modelsDir, children: 2, slotsPerChild: streams / 2 });
  const tally: Tally = { finals: 0, left: 0, foreign: 0, errors: 0 };
  try {
    await Promise.all(
      speeches.map(async (_, first) => {
        for (let tenancy = 0; tenancy < tenancies; tenancy += 1) {
          // Never use the text that this slot had before.
          const speech = speeches[(first + tenancy * 7) % streams];
          if (speech === undefined) throw new RangeError('No such speech.');
          const leavesEarly = (first + tenancy) % LEAVES_EARLY_EVERY === 0;
          await speak({ engine, speech, leavesEarly, tally });
        }
      }),
    );
  } finally {
    await engine.close();
  }
  const { finals, left, foreign, errors } = tally;
  const passed = foreign === 0 && errors === 0 && finals + left === streams * tenancies;
  return { passed, figures: { streams, finals, left_early: left, foreign, errors } };
}

async function speak(input: {
  readonly engine: SherpaEngine;
  readonly speech: Speech;
  readonly leavesEarly: boolean;
  readonly tally: Tally;
}): Promise<void> {
  const { engine, speech, leavesEarly, tally } = input;
  const stream = await engine.open({ model: speech.plan.model, signal: never });
  const pcm = pcmOf(speech.plan);
  const heard = listen(stream.events, { owns: speech.owns, tally });
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

/** Resolves at the final, error or end. */
async function listen(
  events: AsyncIterable<EngineEvent>,
  { owns, tally }: { owns: Owns; tally: Tally },
): Promise<void> {
  for await (const event of events) {
    if (event.type === 'error') {
      tally.errors += 1;
      return;
    }
    if (!owns(event)) tally.foreign += 1;
    if (event.type !== 'final') continue;
    tally.finals += 1;
    return;
  }
}

function distinctPlans([streams, , sentences]: readonly [number, number, number]): UtterancePlan[] {
  return Array.from({ length: streams }, (_, at) => distinctUtterance(at, sentences));
}

/** A greedy transducer never takes a letter back, so every delta is a prefix of the expected text. */
async function transducerSpeeches(size: readonly [number, number, number]): Promise<Speech[]> {
  const plans = distinctPlans(size);
  const bare = await startBare();
  try {
    // One at a time, so that nothing is shared.
    const { texts } = await bare.run([plans]);
    const expected = texts.flat();
    return plans.map((plan, at) => {
      const text = expected[at] ?? '';
      return {
        plan,
        text,
        owns: (event) =>
          event.type === 'final' ? event.text === text : text.startsWith(event.text),
      };
    });
  } finally {
    await bare.stop();
  }
}

/** Unstable words may change, so every delta must be exactly what the same windows give without other streams. */
async function ctcSpeeches(size: readonly [number, number, number]): Promise<Speech[]> {
  const plans = distinctPlans(size);
  const expected = await stitchedTexts(plans);
  return plans.map((plan, at) => ({
    plan,
    text: expected[at]?.final ?? '',
    owns: ({ type, text, samples }) =>
      text === (type === 'final' ? expected[at]?.final : expected[at]?.bySamples.get(samples)),
  }));
}
