import { loadManifests, startSherpaEngine } from '@svc-asr/engine';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { bareSide, startBare, startBareCtc } from './bare.ts';
import { compareSides, planStreams, poolSide } from './throughput.ts';

const STREAMS = [1, 8] as const;
const RATIO_GOAL = 0.9;

/** Measures how many live streams a core serves with the weights of a models directory, and what the engine adds. */
export async function measureWeights(
  modelsDir: string,
  { short, log }: CampaignOptions,
): Promise<CampaignResult> {
  const [manifest] = (await loadManifests(modelsDir)).values();
  if (manifest === undefined) throw new RangeError(`There is no model in ${modelsDir}.`);
  const bare =
    manifest.kind === 'offline_ctc'
      ? await startBareCtc(manifest.files.model)
      : await startBare(modelsDir);
  const engine = await startSherpaEngine({ modelsDir, children: 1, slotsPerChild: 8 });
  const figures: Record<string, number> = {};
  try {
    for (const streams of STREAMS) {
      const plans = planStreams({ streams, utterances: 8, sentences: 4 });
      const sides = [bareSide(bare), poolSide(engine)];
      const [alone, pool] = await compareSides(sides, { plans, rounds: short ? 1 : 3 });
      if (alone === undefined || pool === undefined) throw new RangeError();
      figures[`bare_streams_per_core_${streams}`] = Math.round(10 * alone.rate) / 10;
      figures[`streams_per_core_${streams}`] = Math.round(10 * pool.rate) / 10;
      figures[`ratio_${streams}`] = Math.round(1000 * pool.ratio) / 1000;
      log(`${manifest.build}, ${streams} streams: ${pool.rate.toFixed(1)} live streams per core`);
    }
  } finally {
    await engine.close();
    await bare.stop();
  }
  return { passed: STREAMS.every((n) => (figures[`ratio_${n}`] ?? 0) >= RATIO_GOAL), figures };
}
