import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import {
  startSherpaEngine,
  VoiceActivity,
  type EngineStream,
  type SherpaEngine,
} from '@svc-asr/engine';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import type { Campaign, CampaignOptions, CampaignResult } from '../campaign.ts';
import { Bare } from '../engine/bare.ts';
import { LiveSpeaker, speakFor } from '../engine/live-speaker.ts';
import { percentile } from '../engine/percentile.ts';
import { cpuMsOf, ownCpuMs, residentKib } from '../engine/processor.ts';
import { distinctUtterance, pcmOf, secondsOf, type UtterancePlan } from '../engine/utterances.ts';

const STREAMS = [1, 4, 16, 64] as const;
const GOALS = { ratio: 0.9, loopP99Ms: 20, addedMs: 10 };
/** About ten seconds: four sentences. The short form only shows that everything works. */
const SENTENCES = 4;
const FRAME_BYTES = 3_200;
const LIVE_STREAMS = 64;
const FIRST_STREAMS = 32;
/** Two chunks and the decode of the first. */
const WARM_UP_MS = 2_500;
const never = new AbortController().signal;

export const campaign: Campaign = {
  about: 'the engine pool against bare sherpa-onnx: audio seconds per CPU second, lag, memory',
  run,
};

async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const bare = await Bare.start();
  const engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
  try {
    // Measure while the child is new. Later it would reuse the memory of closed streams.
    const opening = await measureOpening(engine);
    const ratios: Record<string, number> = {};
    for (const streams of STREAMS) {
      const { ratio, detecting } = await compare({ bare, engine, streams, short, log });
      ratios[`ratio_${streams}`] = ratio;
      ratios[`ratio_${streams}_endpointing`] = detecting;
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
 * Compares the pool with the bare recogniser in alternating rounds, so that other load on the machine affects both
 * equally. Both get the same audio in the same number of streams, one child against one process, and all their CPU time
 * counts. The pool is measured alone, and with the voice detector that endpointing adds in the gateway.
 */
async function compare({
  bare,
  engine,
  streams,
  short,
  log,
}: Comparison): Promise<{ ratio: number; detecting: number }> {
  const [rounds, sentences] = short ? [1, 1] : [5, SENTENCES];
  // Enough audio that the clock's resolution and the first decode don't matter.
  const turns = Math.max(1, Math.round((short ? 8 : 64) / streams));
  // Utterances alternate between the languages, and a stream has one language, so it takes every other utterance.
  const stride = Math.max(streams, 2);
  const plans = Array.from({ length: streams }, (_, at) =>
    Array.from({ length: turns }, (_, turn) => distinctUtterance(turn * stride + at, sentences)),
  );
  const audioS = plans.flat().reduce((sum, plan) => sum + secondsOf(pcmOf(plan)), 0);
  const bareRates: number[] = [];
  const poolRates: number[] = [];
  const detectingRates: number[] = [];
  const sides = [
    async () => bareRates.push(audioS / ((await bare.recognise(plans)).cpuMs / 1000)),
    async () => poolRates.push(audioS / ((await throughPool(engine, plans, false)) / 1000)),
    async () => detectingRates.push(audioS / ((await throughPool(engine, plans, true)) / 1000)),
  ];
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) await side();
  }
  for (const rates of [bareRates, poolRates, detectingRates]) rates.shift();
  const against = (rates: readonly number[]): number =>
    percentile(
      bareRates.map((rate, at) => (rates[at] ?? 0) / rate),
      0.5,
    );
  const [ratio, detecting] = [against(poolRates), against(detectingRates)];
  const [bareRate, poolRate] = [percentile(bareRates, 0.5), percentile(poolRates, 0.5)];
  log(
    `${String(streams).padStart(3)} streams: bare ${bareRate.toFixed(0)}, ` +
      `pool ${poolRate.toFixed(0)} audio s per CPU s, ratio ${ratio.toFixed(3)}, ` +
      `with endpointing ${detecting.toFixed(3)}`,
  );
  return { ratio, detecting };
}

/** Measures the CPU time of parent and children while every stream sends as fast as it can. */
async function throughPool(
  engine: SherpaEngine,
  plans: readonly (readonly UtterancePlan[])[],
  detecting: boolean,
): Promise<number> {
  const pids = engine.children().map(({ pid }) => pid);
  const speakers = plans.map((said) => ({ model: said[0]?.model, utterances: said.map(pcmOf) }));
  const before = ownCpuMs() + cpuMsOf(pids);
  await Promise.all(
    speakers.map(async ({ model, utterances }) => {
      if (model === undefined) return;
      const stream = await engine.open({ model, signal: never });
      const events = stream.events[Symbol.asyncIterator]();
      const detector = detecting ? new VoiceActivity() : null;
      for (const speech of utterances) {
        for (let from = 0; from < speech.length; from += FRAME_BYTES) {
          const frame = speech.subarray(from, from + FRAME_BYTES);
          if (detector !== null) detect(detector, frame);
          await stream.write(frame);
        }
        stream.flush();
        while ((await events.next()).value?.type !== 'final');
      }
      await stream.close();
    }),
  );
  return ownCpuMs() + cpuMsOf(pids) - before;
}

/** Runs the voice detector frame by frame, as the gateway does. */
function detect(detector: VoiceActivity, pcm: Uint8Array): void {
  const samples = new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength / 2);
  for (let at = 0; at < samples.length;) {
    const end = Math.min(samples.length, at + detector.missing);
    detector.push(samples.subarray(at, end));
    at = end;
  }
}

async function measureOpening(
  engine: SherpaEngine,
): Promise<{ openMs: number; kibPerStream: number }> {
  /** The parent's heap after a garbage collection. Its resident memory is mostly the audio it sends. */
  const heldKib = (): number => {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    const children = engine.children().reduce((sum, { pid }) => sum + residentKib(pid), 0);
    return (heapUsed + external) / 1024 + children;
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
