import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { startSherpaEngine, type EngineStream, type SherpaEngine } from '@svc-asr/engine';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { bareSide, startBare, type Bare } from '../engine/bare.ts';
import { measureCtc } from '../engine/ctc.ts';
import { LiveSpeaker, speakFor } from '../engine/live-speaker.ts';
import { percentile, round } from '@svc-asr/eval/statistics.ts';
import { residentKib } from '../engine/processor.ts';
import { measureReplay } from '../engine/replay-cost.ts';
import { compareSides, planStreams, poolSide } from '../engine/throughput.ts';
import { distinctUtterance, pcmOf, type UtterancePlan } from '../engine/utterances.ts';
import { measureWeights } from '../engine/weights.ts';
import { measureZipformer } from '../engine/zipformer.ts';

const STREAMS = [1, 4, 16, 64] as const;
const GOALS = { ratio: 0.9, loopP99Ms: 20, addedMs: 10 };
/** About ten seconds: four sentences. The short form only shows that everything works. */
const SENTENCES = 4;
const LIVE_STREAMS = 64;
const FIRST_STREAMS = 32;
/** Two chunks and the decode of the first. */
const WARM_UP_MS = 2_500;
const never = new AbortController().signal;

export const about =
  'the engine pool against bare sherpa-onnx and ONNX Runtime: audio seconds per CPU second, lag, memory';

export async function run(options: CampaignOptions): Promise<CampaignResult> {
  const [flag, modelsDir] = options.args;
  if (flag === '--models' && modelsDir !== undefined) return measureWeights(modelsDir, options);
  if (flag !== undefined) throw new RangeError('Usage: npm run bench -- engine [--models DIR]');
  const transducer = await measureTransducer(options);
  const ctc = await measureCtc(options);
  const zipformer = await measureZipformer(options);
  return {
    passed: transducer.passed && ctc.passed,
    figures: rounded({ ...transducer.figures, ...ctc.figures, ...zipformer }),
  };
}

async function measureTransducer(options: CampaignOptions): Promise<CampaignResult> {
  const { short, log } = options;
  const bare = await startBare();
  const engine = await startSherpaEngine({
    modelsDir: MODELS_DIR,
    children: 1,
    // More than it would take live: some measurements send as fast as they can, or hold memory only.
    slotsPerChild: FIRST_STREAMS + LIVE_STREAMS,
  });
  try {
    // Measure while the child is new. Later it would reuse the memory of closed streams.
    const opening = await measureOpening(engine);
    const ratios: Record<string, number> = {};
    for (const streams of STREAMS) {
      const { ratio, detecting } = await compare({ bare, engine, streams, options });
      ratios[`ratio_${streams}`] = ratio;
      ratios[`ratio_${streams}_endpointing`] = detecting;
    }
    const replay = await measureReplay(engine, options);
    const ms = short ? 4_000 : 30_000;
    const live = await measureLive(engine, { streams: LIVE_STREAMS, ms });
    const half = await measureAdded({ bare, engine, ms, log });
    const figures = {
      ...ratios,
      loop_p99_ms: live.loopP99Ms,
      added_ms_p50: half.addedMs,
      kib_per_stream: opening.kibPerStream,
      open_ms_p50: opening.openMs,
      ...replay,
    };
    const passed =
      (ratios['ratio_16'] ?? 0) >= GOALS.ratio &&
      (ratios['ratio_64'] ?? 0) >= GOALS.ratio &&
      live.loopP99Ms <= GOALS.loopP99Ms &&
      half.addedMs <= GOALS.addedMs;
    return { passed, figures };
  } finally {
    await engine.close();
    await bare.stop();
  }
}

/** The pool alone, and with the voice detector that endpointing adds in the gateway. */
async function compare(input: {
  readonly bare: Bare;
  readonly engine: SherpaEngine;
  readonly streams: number;
  readonly options: CampaignOptions;
}): Promise<{ ratio: number; detecting: number }> {
  const { bare, engine, streams, options } = input;
  // Enough audio that the clock's resolution and the first decode don't matter.
  const utterances = options.short ? 8 : 64;
  const [alone, pool, detecting] = await compareSides(
    [bareSide(bare), poolSide(engine), poolSide(engine, { detecting: true })],
    {
      plans: planStreams({ streams, utterances, sentences: options.short ? 1 : SENTENCES }),
      rounds: options.short ? 3 : 5,
    },
  );
  if (alone === undefined || pool === undefined || detecting === undefined) throw new RangeError();
  options.log(
    `${String(streams).padStart(3)} streams: bare ${alone.rate.toFixed(0)}, ` +
      `pool ${pool.rate.toFixed(0)} audio s per CPU s, ratio ${pool.ratio.toFixed(3)}, ` +
      `with endpointing ${detecting.ratio.toFixed(3)}`,
  );
  return { ratio: pool.ratio, detecting: detecting.ratio };
}

async function measureOpening(
  engine: SherpaEngine,
): Promise<{ openMs: number; kibPerStream: number }> {
  /** The parent's heap after a garbage collection. Its resident memory is mostly the audio it sends. */
  const heldKib = (): number => {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    const children = engine.children().map(({ pid }) => pid);
    return (heapUsed + external) / 1024 + residentKib(...children);
  };
  // The first streams free memory left from loading and allocate the batch buffers. Neither belongs to a stream.
  const first: OpenStream[] = [];
  for (let count = 0; count < FIRST_STREAMS; count += 1) first.push(await openOne(engine, count));
  await writeAll(engine, first);
  const before = heldKib();
  const opensMs: number[] = [];
  const streams: OpenStream[] = [];
  for (let count = 0; count < LIVE_STREAMS; count += 1) {
    const beganMs = performance.now();
    streams.push(await openOne(engine, count));
    opensMs.push(performance.now() - beganMs);
  }
  await writeAll(engine, streams);
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

/** Every stream is then in the middle of its utterance, where it uses the most memory. */
async function writeAll(engine: SherpaEngine, streams: readonly OpenStream[]): Promise<void> {
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
  // Wait until every stream has started and received an event.
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

/** Half load: the number of live streams that keep a child busy half of the time. */
async function measureAdded(input: {
  readonly bare: Bare;
  readonly engine: SherpaEngine;
  readonly ms: number;
  readonly log: (line: string) => void;
}): Promise<{ addedMs: number }> {
  const alone = await input.bare.run([[distinctUtterance(0, 8), distinctUtterance(1, 8)]]);
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
    Object.entries(figures).map(([name, value]) => [name, round(value, 3)]),
  );
}
