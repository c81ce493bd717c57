import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { AUDIO, isModelId, MODEL_IDS, type ModelId } from '@svc-asr/protocol';
import { checkEncoder, countTokens, FRAME_SAMPLES } from './weights.ts';

/** What one model id is made of: `<id>.json` in the models directory. Paths are absolute and their files checked. */
export interface ModelManifest {
  readonly id: ModelId;
  /** Which weights these are. */
  readonly build: string;
  /** The language prompt given to every stream of this model. */
  readonly language: string;
  readonly chunkSamples: number;
  readonly contextSize: readonly [number, number];
  /** How the text the model writes was normalised in training. */
  readonly normaliser: string;
  readonly licence: string;
  readonly files: Readonly<Record<ModelFile, string>>;
}

const MODEL_FILES = ['encoder', 'decoder', 'joiner', 'tokens'] as const;
export type ModelFile = (typeof MODEL_FILES)[number];

const FIELDS = [
  'id',
  'build',
  'language',
  'sample_rate',
  'chunk_samples',
  'context_size',
  'normaliser',
  'licence',
  'files',
] as const;

/** Says everything that is wrong at once, each as a sentence that begins with the file. */
export class ManifestError extends Error {
  readonly problems: readonly string[];
  constructor(directory: string, problems: readonly string[]) {
    super(`The models in ${directory} cannot be used:\n- ${problems.join('\n- ')}`);
    this.name = 'ManifestError';
    this.problems = problems;
  }
}

/** Reads and checks the manifest of every model id; throws a ManifestError when anything at all is wrong. */
export async function loadManifests(
  directory: string,
): Promise<ReadonlyMap<ModelId, ModelManifest>> {
  const root = resolve(directory);
  const problems: string[] = [];
  const found = await readdir(root).catch(() => null);
  if (found === null) {
    throw new ManifestError(root, ['the directory cannot be read; MODELS_DIR names another one']);
  }
  for (const name of found.filter((file) => file.endsWith('.json'))) {
    if (!isModelId(name.slice(0, -'.json'.length))) {
      problems.push(`${name}: no such model id; the ids are ${MODEL_IDS.join(' and ')}`);
    }
  }
  const readOnce = cachedReader();
  const manifests = new Map<ModelId, ModelManifest>();
  for (const id of MODEL_IDS) {
    const manifest = await new ManifestCheck({ root, id, readOnce, problems }).run();
    if (manifest !== null) manifests.set(id, manifest);
  }
  if (problems.length > 0) throw new ManifestError(root, problems);
  return manifests;
}

type ReadOnce = (path: string) => Promise<Buffer | null>;

/** Models may share weights: every file is read once. */
function cachedReader(): ReadOnce {
  const files = new Map<string, Promise<Buffer | null>>();
  return (path) => {
    const known = files.get(path) ?? readFile(path).catch(() => null);
    files.set(path, known);
    return known;
  };
}

class ManifestCheck {
  readonly #root: string;
  readonly #id: ModelId;
  readonly #name: string;
  readonly #readOnce: ReadOnce;
  readonly #problems: string[];
  readonly #problemsBefore: number;

  constructor(input: { root: string; id: ModelId; readOnce: ReadOnce; problems: string[] }) {
    this.#root = input.root;
    this.#id = input.id;
    this.#name = `${input.id}.json`;
    this.#readOnce = input.readOnce;
    this.#problems = input.problems;
    this.#problemsBefore = input.problems.length;
  }

  async run(): Promise<ModelManifest | null> {
    const json = await this.#readJson();
    if (json === null) return null;
    this.#checkFieldNames(json);
    if (json['id'] !== this.#id) this.#say(`id must be ${this.#id}, as the file is named`);
    if (json['sample_rate'] !== AUDIO.sampleRateHz) {
      this.#say(`sample_rate must be ${AUDIO.sampleRateHz}`);
    }
    const language = this.#text(json, 'language');
    const contextSize = this.#contextSize(json);
    const chunkSamples = this.#chunkSamples(json, contextSize);
    const manifest = {
      id: this.#id,
      build: this.#text(json, 'build'),
      language,
      chunkSamples,
      contextSize,
      normaliser: this.#text(json, 'normaliser'),
      licence: this.#text(json, 'licence'),
      files: await this.#files(json, { language, contextSize }),
    };
    return this.#problems.length > this.#problemsBefore ? null : manifest;
  }

  #say(problem: string): void {
    this.#problems.push(`${this.#name}: ${problem}`);
  }

  async #readJson(): Promise<Record<string, unknown> | null> {
    const bytes = await this.#readOnce(join(this.#root, this.#name));
    if (bytes === null) {
      this.#say('the manifest is missing; every model id of the interface needs one');
      return null;
    }
    try {
      const value: unknown = JSON.parse(bytes.toString('utf8'));
      if (isRecord(value)) return value;
      this.#say('the manifest must be a JSON object');
    } catch (error) {
      this.#say(`not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
    }
    return null;
  }

  #checkFieldNames(json: Record<string, unknown>): void {
    const known: readonly string[] = FIELDS;
    for (const field of known) if (!(field in json)) this.#say(`${field} is missing`);
    for (const field of Object.keys(json)) {
      if (!known.includes(field)) {
        this.#say(`unknown field ${field}; the fields are ${FIELDS.join(', ')}`);
      }
    }
  }

  #text(json: Record<string, unknown>, field: string): string {
    const value = json[field];
    if (typeof value === 'string' && value.trim() !== '') return value;
    if (field in json) this.#say(`${field} must be a text that is not empty`);
    return '';
  }

  #contextSize(json: Record<string, unknown>): readonly [number, number] {
    const value: unknown = json['context_size'];
    if (Array.isArray(value) && value.length === 2 && value.every(isWhole)) {
      const [left, right]: number[] = value;
      if (left !== undefined && right !== undefined) return [left, right];
    }
    this.#say('context_size must be two whole numbers: frames to the left and to the right');
    return [0, 0];
  }

  #chunkSamples(json: Record<string, unknown>, contextSize: readonly [number, number]): number {
    const expected = (contextSize[1] + 1) * FRAME_SAMPLES;
    if (json['chunk_samples'] !== expected) {
      this.#say(
        `chunk_samples must be ${expected}: the right context of ${contextSize[1]} frames ` +
          `and the frame itself, ${FRAME_SAMPLES} samples each`,
      );
    }
    return expected;
  }

  async #files(
    json: Record<string, unknown>,
    model: { language: string; contextSize: readonly [number, number] },
  ): Promise<Record<ModelFile, string>> {
    const paths = { encoder: '', decoder: '', joiner: '', tokens: '' };
    const files = json['files'];
    if (!isRecord(files)) {
      if ('files' in json) this.#say(`files must name ${MODEL_FILES.join(', ')}`);
      return paths;
    }
    const contents = new Map<ModelFile, Buffer>();
    for (const file of MODEL_FILES) {
      const checked = await this.#file(file, files[file]);
      if (checked === null) continue;
      paths[file] = checked.path;
      contents.set(file, checked.bytes);
    }
    for (const extra of Object.keys(files)) {
      if (!isModelFile(extra)) {
        this.#say(`files has an unknown entry ${extra}; it needs ${MODEL_FILES.join(', ')}`);
      }
    }
    const tokens = contents.get('tokens');
    const encoder = contents.get('encoder');
    const counted = tokens === undefined ? null : countTokens(tokens.toString('utf8'));
    const tokenCount = typeof counted === 'number' ? counted : null;
    const problems = encoder === undefined ? [] : checkEncoder(encoder, { ...model, tokenCount });
    if (typeof counted === 'string') problems.push(counted);
    for (const problem of problems) this.#say(problem);
    return paths;
  }

  async #file(file: ModelFile, entry: unknown): Promise<{ path: string; bytes: Buffer } | null> {
    const path = isRecord(entry) ? entry['path'] : undefined;
    const sha256 = isRecord(entry) ? entry['sha256'] : undefined;
    if (typeof path !== 'string' || typeof sha256 !== 'string') {
      this.#say(`files.${file} must be { "path": ..., "sha256": ... }`);
      return null;
    }
    const whole = resolve(this.#root, path);
    if (relative(this.#root, whole).startsWith('..')) {
      this.#say(`files.${file} leaves the models directory: ${path}`);
      return null;
    }
    const bytes = await this.#readOnce(whole);
    if (bytes === null) {
      this.#say(`files.${file} is missing: ${path}; is it a checkout without the weights?`);
      return null;
    }
    const actual = createHash('sha256').update(bytes).digest('hex');
    if (actual !== sha256) {
      this.#say(
        `files.${file} is not the file the manifest was made for: ${path} has sha256 ${actual}; ` +
          'fetch it again, or make the manifest anew if you changed it on purpose',
      );
      return null;
    }
    return { path: whole, bytes };
  }
}

function isModelFile(name: string): name is ModelFile {
  return MODEL_FILES.some((file) => file === name);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}
