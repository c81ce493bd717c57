import { CHUNK_SAMPLES } from '@svc-asr/protocol/constants.ts';
import { ONE_THREAD, type Compute } from '../compute.ts';
import type { EngineModel } from '../engine.ts';
import type { ModelManifest } from '../weights/manifest.ts';
import { loadManifests } from '../weights/load-manifests.ts';
import type { ChildModel } from './child-config.ts';

export interface PoolModel {
  readonly description: EngineModel;
  readonly child: ChildModel;
  readonly sha256ByPath: ReadonlyMap<string, string>;
}

/** Reads and checks all models of the directory before any child is started with them. */
export async function loadPoolModels(
  modelsDir: string,
  compute: Compute = ONE_THREAD,
): Promise<readonly PoolModel[]> {
  const manifests = await loadManifests(modelsDir);
  return [...manifests.values()].map((manifest) => toPoolModel(manifest, compute));
}

function toPoolModel(manifest: ModelManifest, compute: Compute): PoolModel {
  const { id, build, chunkSamples, contextSize, sha256ByPath } = manifest;
  if (chunkSamples !== CHUNK_SAMPLES) {
    throw new RangeError(`${id}: only chunks of ${CHUNK_SAMPLES} samples are supported.`);
  }
  const keyterms = manifest.kind !== 'transducer' && manifest.decoding !== undefined;
  // With sherpa-onnx it would cost over half of the stream again (docs/measurements.md).
  const canPeek = manifest.kind !== 'transducer';
  const description = { id, build, chunkSamples, contextSize, keyterms, canPeek };
  return { description, child: toChildModel(manifest, compute), sha256ByPath };
}

function toChildModel(manifest: ModelManifest, compute: Compute): ChildModel {
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
  const { threads } = compute;
  if (manifest.kind === 'zipformer_transducer') {
    const { kind, files, decoding, chunkFrames } = manifest;
    return { kind, language, files, decoding, chunkFrames, threads };
  }
  const { kind, files, extraLeadInMs, batchSafe } = manifest;
  return { kind, language, files, extraLeadInMs, batchSafe, threads };
}
