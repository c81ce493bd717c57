import { rm } from 'node:fs/promises';
import { startSherpaEngine } from '@svc-asr/engine';
import { STAND_IN, standInModels } from '@svc-asr/testing/speech/stand-in.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { startBareCtc } from './bare.ts';
import { measureCommitLags } from './commit-lag.ts';
import { compareFewStreams, FEW_STREAMS } from './few-streams.ts';
import { percentile } from '@svc-asr/eval/statistics.ts';

const GOALS = { ratio: 0.9, commitLagP90Ms: 2_500 };

/** The offline CTC engine against its encoder in bare ONNX Runtime, and the commit lag of live streams. */
export async function measureCtc(options: CampaignOptions): Promise<CampaignResult> {
  const { short, log } = options;
  const modelsDir = standInModels();
  const bare = await startBareCtc(STAND_IN);
  // As many slots as the child measures.
  const engine = await startSherpaEngine({ modelsDir, children: 1 });
  const figures: Record<string, number> = { ctc_slots: engine.health().capacity };
  try {
    Object.assign(figures, await compareFewStreams({ bare, engine, name: 'ctc' }, options));
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
    FEW_STREAMS.every((streams) => (figures[`ctc_ratio_${streams}`] ?? 0) >= GOALS.ratio) &&
    (figures['ctc_commit_lag_p90_ms'] ?? Infinity) <= GOALS.commitLagP90Ms;
  return { passed, figures };
}
