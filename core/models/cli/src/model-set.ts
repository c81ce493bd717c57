import {
  access,
  constants,
  copyFile,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { loadManifests, ManifestError } from '@svc-asr/engine';
import { CHUNK_SAMPLES, CONTEXT_SIZE, MODEL_IDS, type ModelId } from '@svc-asr/protocol';
import { hashOf } from './download.ts';
import { Problem } from './problem.ts';

/** One installed set of weights: `core/models/NAME/model.json` beside its files. `use` writes the manifests for it. */
export interface ModelSet {
  readonly build: string;
  readonly kind: 'transducer' | 'offline_ctc' | 'zipformer_transducer';
  readonly licence: string;
  /** The source of the weights. For a repository of a hub, hf:OWNER/NAME@COMMIT. */
  readonly source: string;
  /** Languages and error rates that its authors state. */
  readonly stated?: {
    readonly languages: readonly string[];
    readonly published: readonly string[];
  };
  readonly normaliser: string;
  readonly extra_lead_in_ms: number;
  /** Weights with which a stream's words never depend on other streams of a batch. */
  readonly batch?: 'safe';
  /** Audio per window of a CTC model: 1120, or 2240 for fewer windows and later text. */
  readonly step_ms?: number;
  /** The language prompt for each model id. */
  readonly languages: Readonly<Record<ModelId, string>>;
  /** File names inside the folder. */
  readonly files: Readonly<Record<string, string>>;
  /** Beam search and language model for each model id, as in a manifest; greedy where there is none. */
  readonly decoding?: Readonly<Partial<Record<ModelId, SetDecoding>>>;
}

/** How a model id's text is searched for. */
export interface SetDecoding {
  /** File name of the language model inside the folder. */
  readonly lm?: string;
  /** File name of its word list: other words are unknown, even if the language model has them. */
  readonly unigrams?: string;
  /** Added to the score of an unknown word, as pyctcdecode does. */
  readonly unk_score_offset?: number;
  readonly unit?: 'character' | 'word';
  readonly alpha?: number;
  readonly beta?: number;
  readonly beam?: number;
  readonly prune?: number;
  readonly prune_labels?: number;
}

/** The prompts of models without prompts of their own. */
export const PROMPTS: ModelSet['languages'] = {
  'svc-asr-kikuyu-v1': 'ki-KE',
  'svc-asr-dholuo-v1': 'luo-KE',
};

const DESCRIPTION = 'model.json';

export async function writeModelSet(folder: string, set: ModelSet): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, DESCRIPTION), `${JSON.stringify(set, null, 2)}\n`);
}

export async function readModelSet(modelsDir: string, name: string): Promise<ModelSet> {
  const text = await readFile(join(modelsDir, name, DESCRIPTION), 'utf8').catch(() => null);
  if (text === null) throw new Problem(`${name} is not installed. See svc-models list.`);
  const set: ModelSet = JSON.parse(text);
  return set;
}

export async function installedSets(modelsDir: string): Promise<string[]> {
  const entries = await readdir(modelsDir, { withFileTypes: true });
  const names: string[] = [];
  for (const entry of entries) {
    const description = join(modelsDir, entry.name, DESCRIPTION);
    const found = await access(description).then(
      () => true,
      () => false,
    );
    if (found) names.push(entry.name);
  }
  return names.toSorted();
}

/** The build that each model id serves now. Empty if a manifest can't be read. */
export async function buildsInUse(modelsDir: string): Promise<ReadonlyMap<ModelId, string>> {
  const builds = new Map<ModelId, string>();
  for (const id of MODEL_IDS) {
    const text = await readFile(join(modelsDir, `${id}.json`), 'utf8').catch(() => '{}');
    const { build }: { build?: string } = JSON.parse(text);
    if (build !== undefined) builds.set(id, build);
  }
  return builds;
}

/** Writes the manifests of these model ids. If the engine refuses them, restores the old ones. */
export async function useModelSet(
  modelsDir: string,
  name: string,
  ids: readonly ModelId[],
): Promise<void> {
  const set = await readModelSet(modelsDir, name);
  const before = new Map<string, string | null>();
  for (const id of ids) {
    const path = join(modelsDir, `${id}.json`);
    before.set(path, await readFile(path, 'utf8').catch(() => null));
  }
  try {
    for (const id of ids) await writeManifest(modelsDir, name, { id, set });
    await loadManifests(modelsDir);
  } catch (error) {
    for (const [path, text] of before) {
      if (text === null) await rm(path, { force: true });
      else await writeFile(path, text);
    }
    if (error instanceof ManifestError) throw new Problem(error.message);
    throw error;
  }
}

/**
 * Creates a separate models directory that serves one installed set for both model ids, optionally with
 * another lead-in. The caller removes it.
 */
export async function stageModelSet(
  modelsDir: string,
  name: string,
  changes: { readonly extra_lead_in_ms?: number } = {},
): Promise<string> {
  const set = { ...(await readModelSet(modelsDir, name)), ...changes };
  // Beside the weights, because hard links don't cross file systems and the engine refuses symlinks that lead out.
  const staged = await mkdtemp(join(modelsDir, '.staged-'));
  const models = MODEL_IDS.flatMap((id) => Object.values(filesOf(set.decoding?.[id])));
  for (const inside of new Set([...Object.values(set.files), ...models])) {
    const file = join(staged, name, inside);
    await mkdir(dirname(file), { recursive: true });
    await linkOrCopy(join(modelsDir, name, inside), file);
  }
  for (const id of MODEL_IDS) await writeManifest(staged, name, { id, set });
  return staged;
}

/** Copies a file of another file system, to which a folder of the models directory may lead. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EXDEV') throw error;
    return copyFile(from, to, constants.COPYFILE_FICLONE);
  });
}

function filesOf({ lm, unigrams }: SetDecoding = {}): Record<string, string> {
  return { ...(lm === undefined ? {} : { lm }), ...(unigrams === undefined ? {} : { unigrams }) };
}

/**
 * Installs the files of a staging folder, which is in the models folder, under a name. Before that the engine checks them; an
 * older model of that name stays if it refuses.
 */
export async function installModelSet(
  modelsDir: string,
  { staging, name, set }: { staging: string; name: string; set: ModelSet },
): Promise<void> {
  await writeModelSet(join(modelsDir, staging), set);
  const staged = await stageModelSet(modelsDir, staging);
  try {
    await loadManifests(staged);
  } catch (error) {
    if (error instanceof ManifestError) throw new Problem([...new Set(error.problems)].join('\n'));
    throw error;
  } finally {
    await rm(staged, { recursive: true });
  }
  await rm(join(modelsDir, name), { recursive: true, force: true });
  await rename(join(modelsDir, staging), join(modelsDir, name));
}

async function writeManifest(
  modelsDir: string,
  name: string,
  { id, set }: { id: ModelId; set: ModelSet },
): Promise<void> {
  const files: Record<string, { path: string; sha256: string }> = {};
  const { lm: _, unigrams: __, ...decoding } = set.decoding?.[id] ?? {};
  const named = { ...set.files, ...filesOf(set.decoding?.[id]) };
  for (const [file, inside] of Object.entries(named)) {
    const path = `${name}/${inside}`;
    const sha256 = await hashOf(join(modelsDir, path));
    if (sha256 === null) throw new Problem(`${path} is missing. Fetch or import ${name} again.`);
    files[file] = { path, sha256 };
  }
  const manifest = {
    id,
    build: set.build,
    ...(set.kind === 'transducer' ? {} : { kind: set.kind }),
    language: set.languages[id],
    sample_rate: 16_000,
    chunk_samples: CHUNK_SAMPLES,
    context_size: CONTEXT_SIZE,
    ...(set.batch === undefined ? {} : { batch: set.batch }),
    ...(set.extra_lead_in_ms === 0 ? {} : { extra_lead_in_ms: set.extra_lead_in_ms }),
    ...(set.step_ms === undefined ? {} : { step_ms: set.step_ms }),
    normaliser: set.normaliser,
    licence: set.licence,
    ...(set.decoding?.[id] === undefined ? {} : { decoding }),
    files,
  };
  const text = JSON.stringify(manifest, null, 2).replace(
    /"context_size": \[\s+(\d+),\s+(\d+)\s+\]/,
    '"context_size": [$1, $2]',
  );
  await writeFile(join(modelsDir, `${id}.json`), `${text}\n`);
}
