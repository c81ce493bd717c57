import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHUNK_SAMPLES, CONTEXT_SIZE, MODEL_IDS } from '@svc-asr/protocol';

/** An offline CTC model with the interface and the files of published omniASR exports; synthetic speech only. */
export const STAND_IN_DIR = join(import.meta.dirname, '../../stand-in');
export const STAND_IN = {
  model: join(STAND_IN_DIR, 'model.onnx'),
  tokens: join(STAND_IN_DIR, 'tokens.txt'),
};

/** A beam search with a language model, as a manifest describes it. */
export interface StandInDecoding {
  readonly lm: string;
  readonly decoding: Readonly<Record<string, unknown>>;
}

/** Creates a models directory in which both model ids use the stand-in. The caller removes it. */
export function standInModels(
  search?: StandInDecoding,
  fields: Readonly<Record<string, unknown>> = {},
): string {
  const models = mkdtempSync(join(tmpdir(), 'stand-in-'));
  // A copy, because the engine refuses links that leave the models directory.
  cpSync(STAND_IN_DIR, join(models, 'stand-in'), { recursive: true });
  if (search !== undefined) cpSync(search.lm, join(models, 'stand-in/lm'));
  const entry = (name: string) => {
    const sha256 = createHash('sha256')
      .update(readFileSync(join(models, 'stand-in', name)))
      .digest('hex');
    return { path: `stand-in/${name}`, sha256 };
  };
  const files = {
    model: entry('model.onnx'),
    tokens: entry('tokens.txt'),
    ...(search === undefined ? {} : { lm: entry('lm') }),
  };
  for (const id of MODEL_IDS) {
    const manifest = {
      id,
      build: 'stand-in',
      kind: 'offline_ctc',
      language: 'auto',
      sample_rate: 16_000,
      chunk_samples: CHUNK_SAMPLES,
      context_size: CONTEXT_SIZE,
      normaliser: 'none',
      licence: 'CC-BY-SA-4.0',
      ...fields,
      ...(search === undefined ? {} : { decoding: search.decoding }),
      files,
    };
    writeFileSync(join(models, `${id}.json`), JSON.stringify(manifest));
  }
  return models;
}
