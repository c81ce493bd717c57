import { rm } from 'node:fs/promises';
import { startSherpaEngine } from '@svc-asr/engine';
import { STAND_IN, standInModels } from '@svc-asr/testing/speech/stand-in.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { bareSide, startBareCtc } from './bare.ts';
import { measureCommitLags } from './commit-lag.ts';
import { percentile } from './percentile.ts';
import { compareSides, planStreams, poolSide } from './throughput.ts';

const STREAMS = [1, 4] as const;
const GOALS = { ratio: 0.9, commitLagP90Ms: 2_500 };

/** The offline CTC engine against its encoder in bare ONNX Runtime, and the commit lag of live streams. */
export async function measureCtc({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const modelsDir = standInModels();
  const bare = await startBareCtc(STAND_IN.model);
  // As many slots as the child measures.
  const engine = await startSherpaEngine({ modelsDir, children: 1 });
  const figures: Record<string, number> = { ctc_slots: engine.health().capacity };
  try {
    for (const streams of STREAMS) {
      const plans = planStreams({ streams, utterances: short ? 4 : 32, sentences: 3 });
      const sides = [bareSide(bare), poolSide(engine)];
      const [alone, pool] = await compareSides(sides, { plans, rounds: short ? 1 : 5 });
      if (alone === undefined || pool === undefined) throw new RangeError();
      figures[`ctc_ratio_${streams}`] = pool.ratio;
      log(
        `offline CTC, ${streams} streams: bare ${alone.rate.toFixed(1)}, ` +
          `pool ${pool.rate.toFixed(1)} audio s per CPU s, ratio ${pool.ratio.toFixed(3)}`,
      );
    }
    const streams = Math.max(1, Math.floor(engine.health().capacity / 2));
    const lagsMs = await measureCommitLags(engine, { streams, utterances: short ? 1 : 4 });
    figures['ctc_commit_lag_p50_ms'] = percentile(lagsMs, 0.5);
    figures['ctc_commit_lag_p90_ms'] = percentile(lagsMs, 0.9);
    log(`${streams} live streams: ${lagsMs.length} words`);
  } finally {
    await engine.close();
    await bare.stop();
    await rm(modelsDir, { recursive: true });
  }
  const passed =
    STREAMS.every((streams) => (figures[`ctc_ratio_${streams}`] ?? 0) >= GOALS.ratio) &&
    (figures['ctc_commit_lag_p90_ms'] ?? Infinity) <= GOALS.commitLagP90Ms;
  return { passed, figures };
}
