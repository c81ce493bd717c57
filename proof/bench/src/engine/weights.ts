import { loadManifests, startSherpaEngine } from '@svc-asr/engine';
import { round } from '@svc-asr/eval/statistics.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { bareSide, startBareWeights, type Bare } from './bare.ts';
import { residentKib } from './processor.ts';
import { compareSides, planStreams, poolSide } from './throughput.ts';

/** A window of a large CTC model takes seconds, and streams don't share any. */
const LOADS = {
  offline_ctc: { streams: [1], utterances: 1 },
  transducer: { streams: [1, 8], utterances: 8 },
  zipformer_transducer: { streams: [1, 8], utterances: 8 },
} as const;
const SENTENCES = 4;
/** Windows at the start of an utterance, before there are 3.12 s of past. */
const SHORTER_WINDOWS = 3;
const RATIO_GOAL = 0.9;

/**
 * Measures how many live streams a core serves with the weights of a models directory, what the engine adds, how many slots
 * a child process takes when it measures its own speed, and its memory.
 */
export async function measureWeights(
  modelsDir: string,
  { short, log }: CampaignOptions,
): Promise<CampaignResult> {
  const [manifest] = (await loadManifests(modelsDir)).values();
  if (manifest === undefined) throw new RangeError(`There is no model in ${modelsDir}.`);
  const bare = await startBareWeights(manifest, modelsDir);
  const slots = await measureSlots(modelsDir);
  const engine = await startSherpaEngine({ modelsDir, children: 1, slotsPerChild: 8 });
  const figures: Record<string, number> = { slots };
  const load = LOADS[manifest.kind];
  try {
    for (const streams of load.streams) {
      const plans = planStreams({ streams, utterances: load.utterances, sentences: SENTENCES });
      const sides = [bareSide(bare), poolSide(engine)];
      const [alone, pool] = await compareSides(sides, { plans, rounds: short ? 1 : 3 });
      if (alone === undefined || pool === undefined) throw new RangeError();
      figures[`bare_streams_per_core_${streams}`] = round(alone.rate, 2);
      figures[`streams_per_core_${streams}`] = round(pool.rate, 2);
      figures[`ratio_${streams}`] = round(pool.ratio, 3);
      log(`${manifest.build}, ${streams} streams: ${pool.rate.toFixed(2)} live streams per core`);
    }
    if (manifest.kind === 'offline_ctc') {
      figures['windows_per_cpu_s'] = await windowsPerCpuS(bare);
    }
    const [child] = engine.children();
    figures['child_mib'] = Math.round(residentKib(child?.pid ?? process.pid) / 1024);
  } finally {
    await engine.close();
    await bare.stop();
  }
  const passed = load.streams.every((n) => (figures[`ratio_${n}`] ?? 0) >= RATIO_GOAL);
  return { passed, figures };
}

/** How many live streams a child process takes when nothing overrides its own measurement. */
async function measureSlots(modelsDir: string): Promise<number> {
  const engine = await startSherpaEngine({ modelsDir, children: 1 });
  const { capacity } = engine.health();
  await engine.close();
  return capacity;
}

/** Windows of full length, which all but the first of an utterance have, per second of one thread. */
async function windowsPerCpuS(bare: Bare): Promise<number> {
  const [plans] = planStreams({ streams: 1, utterances: 1, sentences: SENTENCES });
  const { decodesMs } = await bare.run([plans ?? []]);
  const full = decodesMs.slice(SHORTER_WINDOWS, -1);
  const meanMs = full.reduce((sum, ms) => sum + ms, 0) / full.length;
  return Math.round(100_000 / meanMs) / 100;
}
