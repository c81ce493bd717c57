import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isModelId, MODEL_IDS, type ModelId } from '@svc-asr/protocol';
import type { Decoding } from './ctc/decoding.ts';
import { ManifestCheck } from './manifest-check.ts';
import { ModelFiles } from './model-files.ts';

/** The manifest of a model id: `<id>.json` in the models directory. Paths are absolute and their files were checked. */
export type ModelManifest = TransducerManifest | OfflineCtcManifest;

interface ManifestFields {
  readonly id: ModelId;
  /** Name of the weights. */
  readonly build: string;
  /** The language prompt given to every stream of this model. */
  readonly language: string;
  readonly chunkSamples: number;
  readonly contextSize: readonly [number, number];
  /** The text normaliser used in training. */
  readonly normaliser: string;
  readonly licence: string;
  /** The hash of each of its files, by absolute path. */
  readonly sha256ByPath: ReadonlyMap<string, string>;
}

/** A cache-aware streaming transducer, decoded chunk by chunk. */
export interface TransducerManifest extends ManifestFields {
  readonly kind: 'transducer';
  /** Silence before each utterance beyond what the first decode needs; `svc-models sweep` finds the best value. */
  readonly extraLeadInMs: number;
  readonly files: Readonly<Record<TransducerFile, string>>;
}

/** An offline CTC model, streamed by stitching the posteriors of overlapping windows. */
export interface OfflineCtcManifest extends ManifestFields {
  readonly kind: 'offline_ctc';
  /** How text is searched for; greedily without it. */
  readonly decoding?: Decoding;
  /** Chunks of audio per window: one or two. */
  readonly stepChunks: number;
  readonly files: Readonly<Record<OfflineCtcFile, string>>;
}

export type TransducerFile = 'encoder' | 'decoder' | 'joiner' | 'tokens';
export type OfflineCtcFile = 'model' | 'tokens';

/** Lists every problem, each prefixed with its file. */
export class ManifestError extends Error {
  readonly problems: readonly string[];
  constructor(directory: string, problems: readonly string[]) {
    super(`The models in ${directory} cannot be used:\n- ${problems.join('\n- ')}`);
    this.name = 'ManifestError';
    this.problems = problems;
  }
}

/** Reads and checks the manifest of every model id. Throws a ManifestError with all problems. */
export async function loadManifests(
  directory: string,
): Promise<ReadonlyMap<ModelId, ModelManifest>> {
  const root = resolve(directory);
  const problems: string[] = [];
  const found = await readdir(root).catch(() => null);
  if (found === null) {
    throw new ManifestError(root, ['the directory cannot be read; set MODELS_DIR to another one']);
  }
  for (const name of found.filter((file) => file.endsWith('.json'))) {
    if (!isModelId(name.slice(0, -'.json'.length))) {
      problems.push(`${name}: no such model id; the ids are ${MODEL_IDS.join(' and ')}`);
    }
  }
  const files = new ModelFiles(root);
  const manifests = new Map<ModelId, ModelManifest>();
  for (const id of MODEL_IDS) {
    const manifest = await new ManifestCheck({ id, files, problems }).run();
    if (manifest !== null) manifests.set(id, manifest);
  }
  if (problems.length > 0) throw new ManifestError(root, problems);
  return manifests;
}
