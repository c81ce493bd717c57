import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CHUNK_SAMPLES, CONTEXT_SIZE, MODEL_IDS } from '@svc-asr/protocol';

/** An offline CTC model with the interface and the files of published omniASR exports; synthetic speech only. */
export const STAND_IN_DIR = join(import.meta.dirname, '../../stand-in');
export const STAND_IN = ctcFiles(STAND_IN_DIR);

/** An offline CTC model with cached features, as `svc-models` writes it; synthetic speech only. */
const CACHED_DIR = join(import.meta.dirname, '../../stand-in-cached');
export const CACHED_STAND_IN = ctcFiles(CACHED_DIR);

/** The same weights with cached keys and values too. */
const STREAMED_DIR = join(import.meta.dirname, '../../stand-in-streamed');
export const STREAMED_STAND_IN = ctcFiles(STREAMED_DIR);

/** The description of the first one, as `svc-models` writes it. */
export const STAND_IN_SET = {
  build: 'ctc',
  kind: 'offline_ctc',
  licence: 'CC-BY-SA-4.0',
  source: 'a test',
  normaliser: 'none',
  extra_lead_in_ms: 0,
  languages: { 'svc-asr-kikuyu-v1': 'ki-KE', 'svc-asr-dholuo-v1': 'luo-KE' },
  files: { model: 'model.onnx', tokens: 'tokens.txt' },
} as const;

/** A transducer with the interface and the files of icefall's streaming Zipformer exports; synthetic speech only. */
export const ZIPFORMER_DIR = join(import.meta.dirname, '../../stand-in-zipformer');
/** New mel frames of each of its chunks. */
export const ZIPFORMER_CHUNK_FRAMES = 32;
export const ZIPFORMER = {
  encoder: join(ZIPFORMER_DIR, 'encoder.onnx'),
  decoder: join(ZIPFORMER_DIR, 'decoder.onnx'),
  joiner: join(ZIPFORMER_DIR, 'joiner.onnx'),
  tokens: join(ZIPFORMER_DIR, 'tokens.txt'),
};

/** A beam search with a language model, as a manifest describes it. */
export interface StandInDecoding {
  readonly lm: string;
  readonly decoding: Readonly<Record<string, unknown>>;
}

/** Creates a models directory in which both model ids use the CTC stand-in. The caller removes it. */
export function standInModels(
  search?: StandInDecoding,
  fields: Readonly<Record<string, unknown>> = {},
): string {
  const kind = 'offline_ctc';
  return modelsDirectory(STAND_IN_DIR, { search, fields: { kind, ...fields }, files: STAND_IN });
}

/** Creates a models directory in which both model ids use the CTC stand-in with cached features. The caller removes it. */
export function cachedModels(): string {
  const fields = { kind: 'offline_ctc' };
  return modelsDirectory(CACHED_DIR, { search: undefined, fields, files: CACHED_STAND_IN });
}

/** Creates a models directory in which both model ids use the CTC stand-in with cached keys and values. The caller removes it. */
export function streamedModels(): string {
  const fields = { kind: 'offline_ctc' };
  return modelsDirectory(STREAMED_DIR, { search: undefined, fields, files: STREAMED_STAND_IN });
}

/** Creates a models directory in which both model ids use the Zipformer stand-in. The caller removes it. */
export function zipformerModels(
  search?: StandInDecoding,
  fields: Readonly<Record<string, unknown>> = {},
): string {
  const kind = 'zipformer_transducer';
  return modelsDirectory(ZIPFORMER_DIR, { search, fields: { kind, ...fields }, files: ZIPFORMER });
}

function ctcFiles(folder: string) {
  return { model: join(folder, 'model.onnx'), tokens: join(folder, 'tokens.txt') };
}

function modelsDirectory(
  source: string,
  input: {
    readonly search: StandInDecoding | undefined;
    readonly fields: Readonly<Record<string, unknown>>;
    readonly files: Readonly<Record<string, string>>;
  },
): string {
  const { search } = input;
  const models = mkdtempSync(join(tmpdir(), 'stand-in-'));
  // A copy, because the engine refuses links that leave the models directory.
  cpSync(source, join(models, 'stand-in'), { recursive: true });
  if (search !== undefined) cpSync(search.lm, join(models, 'stand-in/lm'));
  const entry = (name: string) => {
    const sha256 = createHash('sha256')
      .update(readFileSync(join(models, 'stand-in', name)))
      .digest('hex');
    return { path: `stand-in/${name}`, sha256 };
  };
  const named = Object.entries(input.files).map(([file, path]) => [file, entry(basename(path))]);
  const files = {
    ...Object.fromEntries(named),
    ...(search === undefined ? {} : { lm: entry('lm') }),
  };
  for (const id of MODEL_IDS) {
    const manifest = {
      id,
      build: 'stand-in',
      language: 'auto',
      sample_rate: 16_000,
      chunk_samples: CHUNK_SAMPLES,
      context_size: CONTEXT_SIZE,
      normaliser: 'none',
      licence: 'CC-BY-SA-4.0',
      ...input.fields,
      ...(search === undefined ? {} : { decoding: search.decoding }),
      files,
    };
    writeFileSync(join(models, `${id}.json`), JSON.stringify(manifest));
  }
  return models;
}
