import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { withReplay, type Engine, type EngineStream, type SherpaEngine } from '@svc-asr/engine';
import { percentile } from './percentile.ts';
import { cpuMsOf, ownCpuMs } from './processor.ts';
import { planStreams, type StreamPlans } from './throughput.ts';
import { distinctUtterance, pcmOf, secondsOf } from './utterances.ts';

const STREAMS = 16;
const LIVE_STREAMS = 64;
/** About ten seconds. */
const SENTENCES = 4;
const FRAME_BYTES = 3_200;
const never = new AbortController().signal;

interface Cost {
  /** CPU time of this process and its children, and of this process alone, in us per second of audio. */
  readonly wholeUs: number;
  readonly parentUs: number;
}

/** Compares the pool without and with replay in alternating rounds. Only this process does more with it. */
export async function measureReplay(
  pool: SherpaEngine,
  { short, log }: { readonly short: boolean; readonly log: (line: string) => void },
): Promise<Record<string, number>> {
  const replaying = withReplay(pool);
  const plans = planStreams({
    streams: STREAMS,
    utterances: short ? STREAMS : 2 * STREAMS,
    sentences: short ? 1 : SENTENCES,
  });
  const without: Cost[] = [];
  const withIt: Cost[] = [];
  const rounds = short ? 2 : 8;
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    const sides: [Engine, Cost[]][] = [
      [pool, without],
      [replaying, withIt],
    ];
    for (const [engine, costs] of round % 2 === 0 ? sides : sides.toReversed()) {
      const cost = await recognise({ engine, pool, plans });
      if (round > 0) costs.push(cost);
    }
  }
  // The first streams allocate buffers that later ones share.
  await kibPerStream(pool);
  const offKib = await kibPerStream(pool);
  // A new decorator, because the other one keeps blocks for reuse.
  const onKib = await kibPerStream(withReplay(pool));
  const ratios = withIt.map((cost, at) => cost.wholeUs / (without[at]?.wholeUs ?? Number.NaN));
  const figures = {
    replay_cpu_ratio: percentile(ratios, 0.5),
    local_us_per_audio_s: middle(without, 'wholeUs'),
    local_us_per_audio_s_replay: middle(withIt, 'wholeUs'),
    parent_us_per_audio_s: middle(without, 'parentUs'),
    parent_us_per_audio_s_replay: middle(withIt, 'parentUs'),
    parent_kib_per_stream: offKib,
    parent_kib_per_stream_replay: onKib,
  };
  log(
    `replay: ${figures.parent_us_per_audio_s.toFixed(0)} us without, ` +
      `${figures.parent_us_per_audio_s_replay.toFixed(0)} us with it in the parent; ` +
      `${offKib.toFixed(0)} KiB and ${onKib.toFixed(0)} KiB per stream; CPU ratio by round ` +
      ratios.map((ratio) => ratio.toFixed(2)).join(' '),
  );
  return figures;
}

function middle(costs: readonly Cost[], part: keyof Cost): number {
  return percentile(
    costs.map((cost) => cost[part]),
    0.5,
  );
}

async function recognise(input: {
  readonly engine: Engine;
  readonly pool: SherpaEngine;
  readonly plans: StreamPlans;
}): Promise<Cost> {
  const { engine, pool, plans } = input;
  const pids = pool.children().map(({ pid }) => pid);
  const speakers = plans.map((said) => ({ model: said[0]?.model, utterances: said.map(pcmOf) }));
  const audioS = speakers
    .flatMap((one) => one.utterances)
    .reduce((s, pcm) => s + secondsOf(pcm), 0);
  const before = { parent: ownCpuMs(), children: cpuMsOf(pids) };
  await Promise.all(
    speakers.map(async ({ model, utterances }) => {
      if (model === undefined) return;
      const stream = await engine.open({ model, signal: never });
      const events = stream.events[Symbol.asyncIterator]();
      for (const speech of utterances) {
        await writeFrames(stream, speech);
        stream.flush();
        while ((await events.next()).value?.type !== 'final');
      }
      await stream.close();
    }),
  );
  const parentMs = ownCpuMs() - before.parent;
  const wholeMs = parentMs + cpuMsOf(pids) - before.children;
  return { wholeUs: (wholeMs * 1000) / audioS, parentUs: (parentMs * 1000) / audioS };
}

/** The memory of this process per stream in the middle of an utterance of about ten seconds. */
async function kibPerStream(engine: Engine): Promise<number> {
  const plan = distinctUtterance(0, SENTENCES);
  const speech = pcmOf(plan);
  const half = speech.subarray(0, Math.floor(speech.length / 2 / FRAME_BYTES) * FRAME_BYTES);
  const before = await heldKib();
  const streams: EngineStream[] = [];
  for (let count = 0; count < LIVE_STREAMS; count += 1) {
    streams.push(await engine.open({ model: plan.model, signal: never }));
  }
  await Promise.all(streams.map((stream) => writeFrames(stream, half)));
  while (engine.health().lagMs > 0) await delay(10);
  const kib = ((await heldKib()) - before) / LIVE_STREAMS;
  for (const stream of streams) await stream.close();
  return kib;
}

async function writeFrames(stream: EngineStream, speech: Uint8Array): Promise<void> {
  for (let from = 0; from < speech.length; from += FRAME_BYTES) {
    await stream.write(speech.subarray(from, from + FRAME_BYTES));
  }
}

async function heldKib(): Promise<number> {
  // Buffers are freed after a collection, and some only by the second.
  for (let turn = 0; turn < 2; turn += 1) {
    globalThis.gc?.();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024;
}
