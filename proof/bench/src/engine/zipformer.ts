import { rm } from 'node:fs/promises';
import { startSherpaEngine } from '@svc-asr/engine';
import { zipformerModels } from '@svc-asr/testing/speech/stand-in.ts';
import type { CampaignOptions } from '../campaign.ts';
import { startBare } from './bare.ts';
import { compareFewStreams } from './few-streams.ts';

/** Our search of a Zipformer transducer against sherpa-onnx's, both with a beam of four. */
export async function measureZipformer(options: CampaignOptions): Promise<Record<string, number>> {
  const modelsDir = zipformerModels();
  const bare = await startBare(modelsDir);
  const engine = await startSherpaEngine({ modelsDir, children: 1 });
  try {
    return {
      zipformer_slots: engine.health().capacity,
      ...(await compareFewStreams({ bare, engine, name: 'zipformer' }, options)),
    };
  } finally {
    await engine.close();
    await bare.stop();
    await rm(modelsDir, { recursive: true });
  }
}
