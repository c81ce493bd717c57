import { readFile } from 'node:fs/promises';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import type { EngineModel } from '../engine.ts';
import { loadManifests, type ModelManifest } from '../manifest.ts';
import type { ChildModel } from './child-config.ts';

export interface PoolModel extends ChildModel {
  readonly description: EngineModel;
}

/** Operators of weights whose activations are quantised as they come, with one scale for all that is in the batch. */
const DYNAMIC_QUANTISATION = 'DynamicQuantize';

/** Reads and checks all models of the directory before any child is started with them. */
export async function loadPoolModels(modelsDir: string): Promise<readonly PoolModel[]> {
  const manifests = await loadManifests(modelsDir);
  return Promise.all([...manifests.values()].map(toPoolModel));
}

async function toPoolModel(manifest: ModelManifest): Promise<PoolModel> {
  const { id, build, language, chunkSamples, contextSize, files } = manifest;
  if (chunkSamples !== CHUNK_SAMPLES) {
    throw new RangeError(`${id}: only chunks of ${CHUNK_SAMPLES} samples are supported.`);
  }
  return {
    description: { id, build, chunkSamples, contextSize },
    language,
    files,
    batching: await allowsBatching([files.encoder, files.decoder, files.joiner]),
  };
}

/** False for weights with which one caller's audio in a batch would change another caller's words. */
export async function allowsBatching(onnxFiles: readonly string[]): Promise<boolean> {
  const contents = await Promise.all(onnxFiles.map((file) => readFile(file)));
  return !contents.some((bytes) => bytes.includes(DYNAMIC_QUANTISATION));
}
