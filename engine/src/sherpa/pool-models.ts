import { readFile } from 'node:fs/promises';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { ONE_THREAD, type Compute } from '../compute.ts';
import type { EngineModel } from '../engine.ts';
import { loadManifests, type ModelManifest } from '../manifest.ts';
import type { ChildModel } from './child-config.ts';

export interface PoolModel {
  readonly description: EngineModel;
  readonly child: ChildModel;
  readonly sha256ByPath: ReadonlyMap<string, string>;
}

/** ONNX operators that quantise activations dynamically, with one scale per batch. */
const DYNAMIC_QUANTISATION = 'DynamicQuantize';

/** Reads and checks all models of the directory before any child is started with them. */
export async function loadPoolModels(
  modelsDir: string,
  compute: Compute = ONE_THREAD,
): Promise<readonly PoolModel[]> {
  const manifests = await loadManifests(modelsDir);
  return Promise.all([...manifests.values()].map((manifest) => toPoolModel(manifest, compute)));
}

async function toPoolModel(manifest: ModelManifest, compute: Compute): Promise<PoolModel> {
  const { id, build, chunkSamples, contextSize, sha256ByPath } = manifest;
  if (chunkSamples !== CHUNK_SAMPLES) {
    throw new RangeError(`${id}: only chunks of ${CHUNK_SAMPLES} samples are supported.`);
  }
  const keyterms = manifest.kind === 'offline_ctc' && manifest.decoding !== undefined;
  const description = { id, build, chunkSamples, contextSize, keyterms };
  return { description, child: await toChildModel(manifest, compute), sha256ByPath };
}

async function toChildModel(manifest: ModelManifest, compute: Compute): Promise<ChildModel> {
  const { language } = manifest;
  if (manifest.kind === 'offline_ctc') {
    const { kind, files, decoding, stepChunks } = manifest;
    const search = decoding === undefined ? {} : { decoding };
    return { kind, language, files, stepChunks, compute, ...search };
  }
  if (compute.device === 'cuda') {
    throw new RangeError(
      `${manifest.id}: ENGINE_DEVICE=cuda is for offline CTC models. Use cuda-or-cpu or cpu for transducers.`,
    );
  }
  const { kind, files, extraLeadInMs } = manifest;
  const batching = await allowsBatching([files.encoder, files.decoder, files.joiner]);
  return { kind, language, files, extraLeadInMs, batching, threads: compute.threads };
}

/** False for weights with which one caller's audio in a batch would change another caller's words. */
export async function allowsBatching(onnxFiles: readonly string[]): Promise<boolean> {
  const contents = await Promise.all(onnxFiles.map((file) => readFile(file)));
  return !contents.some((bytes) => bytes.includes(DYNAMIC_QUANTISATION));
}
