import { rm } from 'node:fs/promises';
import { startSherpaEngine, type EngineEvent, type SherpaEngine } from '@svc-asr/engine';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import { standInModels } from '@svc-asr/testing/speech/stand-in.ts';
import { prefixed, type CampaignOptions, type CampaignResult } from '../campaign.ts';
import { startBare } from '../engine/bare.ts';
import { stitchedTexts } from '../engine/bare-ctc.ts';
import { eightBitModels } from '../engine/eight-bit-models.ts';
import { distinctUtterance, pcmOf, type UtterancePlan } from '../engine/utterances.ts';

const never = new AbortController().signal;
/** Some streams close in the middle of a word, so that their slots are reused while work is pending. */
const LEAVES_EARLY_EVERY = 3;
/** Streams, utterances one after another on each, and sentences. The offline model costs four times as much. */
const SIZES = {
  transducer: { long: [200, 9, 4], short: [24, 3, 4] },
  ctc: { long: [100, 6, 3], short: [12, 3, 2] },
} as const;

export const about =
  'concurrent streams on reused engine slots, both engines and 8-bit weights: no stream gets words of another';

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

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const form = short ? 'short' : 'long';
  const streamed = SIZES.transducer[form];
  const transducer = await transducerCrossTalk(MODELS_DIR, streamed, log);
  const eightBit = await eightBitCrossTalk(streamed, log);
  const stitched = SIZES.ctc[form];
  const modelsDir = standInModels();
  try {
    const speeches = await ctcSpeeches(stitched);
    const ctc = await crossTalk({ modelsDir, speeches, tenancies: stitched[1], log });
    return {
      passed: transducer.passed && eightBit.passed && ctc.passed,
      figures: {
        ...transducer.figures,
        ...prefixed('int8', eightBit),
        ...prefixed('ctc', ctc),
      },
    };
  } finally {
    await rm(modelsDir, { recursive: true });
  }
}

type Size = readonly [streams: number, tenancies: number, sentences: number];

async function transducerCrossTalk(
  modelsDir: string,
  size: Size,
  log: (line: string) => void,
): Promise<CampaignResult> {
  const speeches = await transducerSpeeches(modelsDir, size);
  return crossTalk({ modelsDir, speeches, tenancies: size[1], log });
}

/** The bundled weights in 8 bits, in the same batches. Each text must be the one that they write alone. */
async function eightBitCrossTalk(size: Size, log: (line: string) => void): Promise<CampaignResult> {
  const modelsDir = await eightBitModels();
  if (modelsDir === null) {
    log('8-bit weights are left out: bash training/environment.sh installs what makes them');
    return { passed: true, figures: { streams: 0 } };
  }
  try {
    return await transducerCrossTalk(modelsDir, size, log);
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
  const checked = listen(stream.events, { owns: speech.owns, tally });
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
  else await checked;
  await stream.close();
  await checked;
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

function distinctPlans([streams, , sentences]: Size): UtterancePlan[] {
  return Array.from({ length: streams }, (_, at) => distinctUtterance(at, sentences));
}

/** A greedy transducer never takes a letter back, so every delta is a prefix of the expected text. */
async function transducerSpeeches(modelsDir: string, size: Size): Promise<Speech[]> {
  const plans = distinctPlans(size);
  const bare = await startBare(modelsDir);
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
async function ctcSpeeches(size: Size): Promise<Speech[]> {
  const plans = distinctPlans(size);
  const expected = await stitchedTexts(plans);
  return plans.map((plan, at) => ({
    plan,
    text: expected[at]?.final ?? '',
    owns: ({ type, text, samples }) =>
      text === (type === 'final' ? expected[at]?.final : expected[at]?.bySamples.get(samples)),
  }));
}
