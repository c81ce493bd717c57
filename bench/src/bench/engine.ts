import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { startSherpaEngine, type EngineStream, type SherpaEngine } from '@svc-asr/engine';
import { MODELS_DIR } from '@svc-asr/engine/test/speech.ts';
import type { Campaign, CampaignOptions, CampaignResult } from '../campaign.ts';
import { Bare } from '../engine/bare.ts';
import { LiveSpeaker, speakFor } from '../engine/live-speaker.ts';
import { percentile } from '../engine/percentile.ts';
import { cpuMsOf, ownCpuMs, residentKib } from '../engine/processor.ts';
import { distinctUtterance, pcmOf, secondsOf, type UtterancePlan } from '../engine/utterances.ts';

const STREAMS = [1, 4, 16, 64] as const;
const GOALS = { ratio: 0.9, loopP99Ms: 20, addedMs: 10 };
/** About ten seconds: four sentences. */
const SENTENCES = 4;
const FRAME_BYTES = 3_200;
const LIVE_STREAMS = 64;
const FIRST_STREAMS = 32;
/** Two chunks and the decode of the first. */
const WARM_UP_MS = 2_500;
const never = new AbortController().signal;

export const campaign: Campaign = {
  about: 'the pool through the port against bare sherpa-onnx: audio seconds per CPU second, lag',
  run,
};

async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const bare = await Bare.start();
  const engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
  try {
    // While the child is new: later it would take the memory of streams that have gone.
    const opening = await measureOpening(engine);
    const ratios: Record<string, number> = {};
    for (const streams of STREAMS) {
      const ratio = await compare({ bare, engine, streams, short, log });
      ratios[`ratio_${streams}`] = ratio;
    }
    const ms = short ? 4_000 : 30_000;
    const live = await measureLive(engine, { streams: LIVE_STREAMS, ms });
    const half = await measureAdded({ bare, engine, ms, log });
    const figures = {
      ...ratios,
      loop_p99_ms: live.loopP99Ms,
      added_ms_p50: half.addedMs,
      kib_per_stream: opening.kibPerStream,
      open_ms_p50: opening.openMs,
    };
    const passed =
      (ratios['ratio_16'] ?? 0) >= GOALS.ratio &&
      (ratios['ratio_64'] ?? 0) >= GOALS.ratio &&
      live.loopP99Ms <= GOALS.loopP99Ms &&
      half.addedMs <= GOALS.addedMs;
    return { passed, figures: rounded(figures) };
  } finally {
    await engine.close();
    await bare.stop();
  }
}

interface Comparison {
  readonly bare: Bare;
  readonly engine: SherpaEngine;
  readonly streams: number;
  readonly short: boolean;
  readonly log: (line: string) => void;
}

/**
 * Side by side in turns, each side first every other time: what else the machine does then weighs on both alike. The
 * same audio in the same number of streams, one child against one process, all processor time of both.
 */
async function compare({ bare, engine, streams, short, log }: Comparison): Promise<number> {
  const rounds = short ? 1 : 5;
  // Enough audio that the clock's grain and the first decode do not matter.
  const turns = Math.max(1, Math.round((short ? 8 : 64) / streams));
  // Languages alternate, and a stream keeps to its own: one alone takes every other utterance.
  const stride = Math.max(streams, 2);
  const plans = Array.from({ length: streams }, (_, at) =>
    Array.from({ length: turns }, (_, turn) => distinctUtterance(turn * stride + at, SENTENCES)),
  );
  const audioS = plans.flat().reduce((sum, plan) => sum + secondsOf(pcmOf(plan)), 0);
  const bareRates: number[] = [];
  const poolRates: number[] = [];
  const sides = [
    async () => bareRates.push(audioS / ((await bare.recognise(plans)).cpuMs / 1000)),
    async () => poolRates.push(audioS / ((await throughPool(engine, plans)) / 1000)),
  ];
  // The first round warms both up and does not count.
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) await side();
  }
  for (const rates of [bareRates, poolRates]) rates.shift();
  const ratio = percentile(
    bareRates.map((rate, at) => (poolRates[at] ?? 0) / rate),
    0.5,
  );
  const [bareRate, poolRate] = [percentile(bareRates, 0.5), percentile(poolRates, 0.5)];
  log(
    `${String(streams).padStart(3)} streams: bare ${bareRate.toFixed(0)}, ` +
      `pool ${poolRate.toFixed(0)} audio s per CPU s, ratio ${ratio.toFixed(3)}`,
  );
  return ratio;
}

/** Processor time of parent and children while every stream sends as fast as it may. */
async function throughPool(
  engine: SherpaEngine,
  plans: readonly (readonly UtterancePlan[])[],
): Promise<number> {
  const pids = engine.children().map(({ pid }) => pid);
  const speakers = plans.map((said) => ({ model: said[0]?.model, utterances: said.map(pcmOf) }));
  const before = ownCpuMs() + cpuMsOf(pids);
  await Promise.all(
    speakers.map(async ({ model, utterances }) => {
      if (model === undefined) return;
      const stream = await engine.open({ model, signal: never });
      const events = stream.events[Symbol.asyncIterator]();
      for (const speech of utterances) {
        for (let from = 0; from < speech.length; from += FRAME_BYTES) {
          await stream.write(speech.subarray(from, from + FRAME_BYTES));
        }
        stream.flush();
        while ((await events.next()).value?.type !== 'final');
      }
      await stream.close();
    }),
  );
  return ownCpuMs() + cpuMsOf(pids) - before;
}

async function measureOpening(
  engine: SherpaEngine,
): Promise<{ openMs: number; kibPerStream: number }> {
  /** What the parent still holds after a collection: its resident memory is mostly the speech it plays. */
  const heldKib = (): number => {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    const children = engine.children().reduce((sum, { pid }) => sum + residentKib(pid), 0);
    return (heapUsed + external) / 1024 + children;
  };
  // What loading left behind goes, and what batches work with comes, with the first streams: it is not the streams'.
  const first: OpenStream[] = [];
  for (let count = 0; count < FIRST_STREAMS; count += 1) first.push(await openOne(engine, count));
  await hearOut(engine, first);
  const before = heldKib();
  const opensMs: number[] = [];
  const streams: OpenStream[] = [];
  for (let count = 0; count < LIVE_STREAMS; count += 1) {
    const beganMs = performance.now();
    streams.push(await openOne(engine, count));
    opensMs.push(performance.now() - beganMs);
  }
  await hearOut(engine, streams);
  const kibPerStream = (heldKib() - before) / LIVE_STREAMS;
  for (const { stream } of [...first, ...streams]) await stream.close();
  return { openMs: percentile(opensMs, 0.5), kibPerStream };
}

interface OpenStream {
  readonly stream: EngineStream;
  readonly plan: UtterancePlan;
}

async function openOne(engine: SherpaEngine, number: number): Promise<OpenStream> {
  const plan = distinctUtterance(number, SENTENCES);
  return { stream: await engine.open({ model: plan.model, signal: never }), plan };
}

/** Each is in the middle of its utterance then, which is when a stream holds most. */
async function hearOut(engine: SherpaEngine, streams: readonly OpenStream[]): Promise<void> {
  for (const { stream, plan } of streams) await stream.write(pcmOf(plan));
  while (engine.health().lagMs > 0) await delay(10);
}

async function measureLive(
  engine: SherpaEngine,
  input: { streams: number; ms: number },
): Promise<{ loopP99Ms: number; lagMs: number }> {
  const speakers: LiveSpeaker[] = [];
  for (let at = 0; at < input.streams; at += 1) {
    speakers.push(await LiveSpeaker.open(engine, distinctUtterance(at, SENTENCES)));
  }
  // Until everybody has begun and been answered once.
  await speakFor(speakers, WARM_UP_MS);
  for (const { lagsMs } of speakers) lagsMs.length = 0;
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  await speakFor(speakers, input.ms);
  loop.disable();
  const lagsMs = speakers.flatMap((speaker) => speaker.lagsMs);
  for (const speaker of speakers) await speaker.close();
  return { loopP99Ms: loop.percentile(99) / 1e6, lagMs: percentile(lagsMs, 0.5) };
}

/** At half load: as many live streams as keep a child busy half of the time. */
async function measureAdded(input: {
  readonly bare: Bare;
  readonly engine: SherpaEngine;
  readonly ms: number;
  readonly log: (line: string) => void;
}): Promise<{ addedMs: number }> {
  const alone = await input.bare.recognise([[distinctUtterance(0, 8), distinctUtterance(1, 8)]]);
  const decodeMs = percentile(alone.decodesMs, 0.5);
  const chunkMs = 1_120;
  const streams = Math.min(Math.round((chunkMs / decodeMs) * 0.5), input.engine.health().capacity);
  const { lagMs } = await measureLive(input.engine, { ...input, streams });
  input.log(
    `half load, ${streams} live streams: delta ${lagMs.toFixed(1)} ms after its last sample; ` +
      `bare decode ${decodeMs.toFixed(1)} ms`,
  );
  return { addedMs: lagMs - decodeMs };
}

function rounded(figures: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, Math.round(value * 1000) / 1000]),
  );
}
