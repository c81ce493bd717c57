import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { withReplay, type Engine, type EngineStream, type SherpaEngine } from '@svc-asr/engine';
import { ownCpuMs, percentile } from '@svc-asr/eval/statistics.ts';

import {
  audioSeconds,
  compareSides,
  FRAME_BYTES,
  planStreams,
  poolSide,
  type Side,
} from './throughput.ts';
import { distinctUtterance, pcmOf } from './utterances.ts';

const STREAMS = 16;
const LIVE_STREAMS = 64;
/** About ten seconds. */
const SENTENCES = 4;
const never = new AbortController().signal;

/** Compares the pool without and with replay in alternating rounds. Only this process does more with it. */
export async function measureReplay(
  pool: SherpaEngine,
  { short, log }: { readonly short: boolean; readonly log: (line: string) => void },
): Promise<Record<string, number>> {
  const plans = planStreams({
    streams: STREAMS,
    utterances: short ? STREAMS : 2 * STREAMS,
    sentences: short ? 1 : SENTENCES,
  });
  const without = withParent(poolSide(pool));
  const withIt = withParent(poolSide(pool, { engine: withReplay(pool) }));
  const rounds = short ? 2 : 8;
  const [off, on] = await compareSides([without.side, withIt.side], { plans, rounds });
  if (off === undefined || on === undefined) throw new RangeError('A side has no result.');
  // The first streams allocate buffers that later ones share.
  await kibPerStream(pool);
  const offKib = await kibPerStream(pool);
  // A new decorator, because the other one keeps blocks for reuse.
  const onKib = await kibPerStream(withReplay(pool));
  const audioS = audioSeconds(plans);
  const figures = {
    replay_cpu_ratio: 1 / on.ratio,
    local_us_per_audio_s: 1e6 / off.rate,
    local_us_per_audio_s_replay: 1e6 / on.rate,
    parent_us_per_audio_s: (without.parentMs() * 1000) / audioS,
    parent_us_per_audio_s_replay: (withIt.parentMs() * 1000) / audioS,
    parent_kib_per_stream: offKib,
    parent_kib_per_stream_replay: onKib,
  };
  log(
    `replay: ${figures.parent_us_per_audio_s.toFixed(0)} us without, ` +
      `${figures.parent_us_per_audio_s_replay.toFixed(0)} us with it in the parent; ` +
      `${offKib.toFixed(0)} KiB and ${onKib.toFixed(0)} KiB per stream; ` +
      `CPU ratio ${figures.replay_cpu_ratio.toFixed(2)}`,
  );
  return figures;
}

/** Measures this process alone too. The first round, a warm-up, does not count. */
function withParent(side: Side): { side: Side; parentMs: () => number } {
  const rounds: number[] = [];
  return {
    async side(plans) {
      const beforeMs = ownCpuMs();
      const wholeMs = await side(plans);
      rounds.push(ownCpuMs() - beforeMs);
      return wholeMs;
    },
    parentMs: () => percentile(rounds.slice(1), 0.5),
  };
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
