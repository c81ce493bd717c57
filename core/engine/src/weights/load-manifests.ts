import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isModelId, MODEL_IDS, type ModelId } from '@svc-asr/protocol/constants.ts';
import { ManifestCheck } from './manifest-check.ts';
import type { ModelManifest } from './manifest.ts';
import { ModelFiles } from './model-files.ts';

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
