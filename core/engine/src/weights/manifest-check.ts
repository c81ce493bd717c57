import { AUDIO, type ModelId } from '@svc-asr/protocol/constants.ts';
import { scorersOf, type Decoding } from '../ctc/decoding.ts';
import { parseCtcTokens } from '../ctc/tokens.ts';
import { checkCtcModel } from './ctc-check.ts';
import { checkDecoding } from './decoding-check.ts';
import { InvalidLanguageModel } from '../lm/kenlm-binary.ts';
import { NgramModel } from '../lm/ngram-model.ts';
import type { ModelManifest } from './manifest.ts';
import type { ModelFiles } from './model-files.ts';
import { checkEncoder, countTokens, FRAME_SAMPLES } from './encoder-check.ts';
import { checkZipformer } from './zipformer-check.ts';

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
const OPTIONAL_FIELDS: readonly string[] = [
  'kind',
  'batch',
  'extra_lead_in_ms',
  'step_ms',
  'decoding',
];
/** Half a chunk: more silence would delay every delta. */
const EXTRA_LEAD_IN_MS_MAX = 560;

/** ONNX operators with one activation scale for the whole batch, so that one caller would change another's words. */
const SCALE_PER_BATCH = 'DynamicQuantize';

/** A window per chunk, or per two. Longer steps would delay text by more than a speaker waits for. */
const STEPS_MS = [1_120, 2_240];

type Kind = ModelManifest['kind'];

const KINDS: readonly Kind[] = ['transducer', 'offline_ctc', 'zipformer_transducer'];
const TRANSDUCER_FILES = ['encoder', 'decoder', 'joiner', 'tokens'];

/** The second list: ONNX external data, for weights beyond 2 GB, to which the first file refers; the language model and its word list. */
const FILES: Readonly<Record<Kind, { needed: readonly string[]; optional: readonly string[] }>> = {
  transducer: { needed: TRANSDUCER_FILES, optional: ['encoder_data'] },
  offline_ctc: { needed: ['model', 'tokens'], optional: ['model_data', 'lm', 'unigrams'] },
  zipformer_transducer: { needed: TRANSDUCER_FILES, optional: ['encoder_data', 'lm', 'unigrams'] },
};

/** Checks a manifest and its files, and adds a sentence to `problems` for each problem. */
export class ManifestCheck {
  readonly #id: ModelId;
  readonly #name: string;
  readonly #files: ModelFiles;
  readonly #problems: string[];
  readonly #problemsBefore: number;

  constructor(input: { id: ModelId; files: ModelFiles; problems: string[] }) {
    this.#id = input.id;
    this.#name = `${input.id}.json`;
    this.#files = input.files;
    this.#problems = input.problems;
    this.#problemsBefore = input.problems.length;
  }

  async run(): Promise<ModelManifest | null> {
    const json = await this.#readJson();
    if (json === null) return null;
    this.#checkFieldNames(json);
    if (json['id'] !== this.#id) this.#report(`id must be ${this.#id}, to match the file name`);
    if (json['sample_rate'] !== AUDIO.sampleRateHz) {
      this.#report(`sample_rate must be ${AUDIO.sampleRateHz}`);
    }
    const kind = this.#kind(json);
    const contextSize = this.#contextSize(json);
    const fields = {
      id: this.#id,
      build: this.#text(json, 'build'),
      language: this.#text(json, 'language'),
      chunkSamples: this.#chunkSamples(json, contextSize),
      contextSize,
      normaliser: this.#text(json, 'normaliser'),
      licence: this.#text(json, 'licence'),
    };
    const extraLeadInMs = this.#extraLeadInMs(json, kind);
    const batchSafe = this.#batchSafe(json, kind);
    const stepChunks = this.#stepChunks(json, kind);
    const { paths, contents, sha256ByPath } = await this.#namedFiles(json, kind);
    const path = (file: string): string => paths.get(file) ?? '';
    const tokens = path('tokens');
    if (batchSafe) this.#checkBatchSafe(contents);
    if (kind === 'transducer') this.#checkTransducer(contents, fields);
    if (kind === 'offline_ctc') this.#checkOfflineCtc(contents);
    const chunkFrames = kind === 'zipformer_transducer' ? this.#checkZipformer(contents) : 0;
    const [lm, unigrams] = [paths.get('lm'), paths.get('unigrams')];
    const { decoding, problems } = checkDecoding(json['decoding'], { kind, lm, unigrams });
    for (const problem of problems) this.#report(problem);
    this.#checkLanguageModel(contents, decoding);
    if (this.#problems.length > this.#problemsBefore) return null;
    if (kind === 'offline_ctc') {
      const files = { model: path('model'), tokens };
      const ctc = { ...fields, sha256ByPath, kind, stepChunks, files };
      return decoding === null ? ctc : { ...ctc, decoding };
    }
    const parts = { encoder: path('encoder'), decoder: path('decoder'), joiner: path('joiner') };
    const transducer = { ...fields, sha256ByPath, files: { ...parts, tokens } };
    if (kind === 'transducer') return { ...transducer, kind, extraLeadInMs, batchSafe };
    return decoding === null ? null : { ...transducer, kind, decoding, chunkFrames };
  }

  #report(problem: string): void {
    this.#problems.push(`${this.#name}: ${problem}`);
  }

  async #readJson(): Promise<Record<string, unknown> | null> {
    if ((await this.#files.resolve(this.#name)) === null) {
      this.#report('the manifest leaves the models directory');
      return null;
    }
    const file = await this.#files.read(this.#name);
    if (file === null) {
      this.#report('the manifest is missing; every model id of the interface needs one');
      return null;
    }
    try {
      const value: unknown = JSON.parse(String(file.bytes));
      if (isRecord(value)) return value;
      this.#report('the manifest must be a JSON object');
    } catch (error) {
      this.#report(`not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
    }
    return null;
  }

  #checkFieldNames(json: Record<string, unknown>): void {
    const known: readonly string[] = FIELDS;
    for (const field of known) if (!(field in json)) this.#report(`${field} is missing`);
    const all = [...known, ...OPTIONAL_FIELDS];
    for (const field of Object.keys(json)) {
      if (!all.includes(field)) {
        this.#report(`unknown field ${field}; the fields are ${all.join(', ')}`);
      }
    }
  }

  #text(json: Record<string, unknown>, field: string): string {
    const value = json[field];
    if (typeof value === 'string' && value.trim() !== '') return value;
    if (field in json) this.#report(`${field} must be a non-empty string`);
    return '';
  }

  #contextSize(json: Record<string, unknown>): readonly [number, number] {
    const value: unknown = json['context_size'];
    if (Array.isArray(value) && value.length === 2 && value.every(isWhole)) {
      const [left, right]: number[] = value;
      if (left !== undefined && right !== undefined) return [left, right];
    }
    this.#report('context_size must be two whole numbers: frames to the left and to the right');
    return [0, 0];
  }

  #chunkSamples(json: Record<string, unknown>, contextSize: readonly [number, number]): number {
    const expected = (contextSize[1] + 1) * FRAME_SAMPLES;
    if (json['chunk_samples'] !== expected) {
      this.#report(
        `chunk_samples must be ${expected}: the right context of ${contextSize[1]} frames ` +
          `and the frame itself, ${FRAME_SAMPLES} samples each`,
      );
    }
    return expected;
  }

  #kind(json: Record<string, unknown>): Kind {
    const named = json['kind'] ?? 'transducer';
    const kind = KINDS.find((one) => one === named);
    if (kind === undefined) this.#report(`kind must be ${KINDS.join(' or ')}`);
    return kind ?? 'transducer';
  }

  #extraLeadInMs(json: Record<string, unknown>, kind: Kind): number {
    const value = json['extra_lead_in_ms'] ?? 0;
    if (kind !== 'transducer' && value !== 0) {
      this.#report('extra_lead_in_ms is for models of kind transducer; others have no lead-in');
    } else if (isWhole(value) && value <= EXTRA_LEAD_IN_MS_MAX) return value;
    else this.#report(`extra_lead_in_ms must be a whole number from 0 to ${EXTRA_LEAD_IN_MS_MAX}`);
    return 0;
  }

  #batchSafe(json: Record<string, unknown>, kind: Kind): boolean {
    const value = json['batch'];
    if (value === undefined) return false;
    if (kind !== 'transducer') this.#report('batch is for transducers');
    else if (value !== 'safe') this.#report('batch must be safe, or left out');
    return value === 'safe';
  }

  #checkBatchSafe(contents: ReadonlyMap<string, Buffer>): void {
    for (const [file, bytes] of contents) {
      if (!bytes.includes(SCALE_PER_BATCH)) continue;
      this.#report(
        `batch is safe, but files.${file} has one activation scale for a whole batch ` +
          `(${SCALE_PER_BATCH}...), so one caller could change another's words; import it again, or remove batch`,
      );
    }
  }

  #stepChunks(json: Record<string, unknown>, kind: Kind): number {
    const value = json['step_ms'];
    if (value === undefined) return 1;
    if (kind !== 'offline_ctc') this.#report('step_ms is for offline CTC models');
    const at = STEPS_MS.findIndex((step) => step === value);
    if (at < 0) this.#report(`step_ms must be ${STEPS_MS.join(' or ')}`);
    return Math.max(0, at) + 1;
  }

  async #namedFiles(
    json: Record<string, unknown>,
    kind: Kind,
  ): Promise<{
    paths: Map<string, string>;
    contents: Map<string, Buffer>;
    sha256ByPath: Map<string, string>;
  }> {
    const { needed, optional } = FILES[kind];
    const paths = new Map<string, string>();
    const contents = new Map<string, Buffer>();
    const sha256ByPath = new Map<string, string>();
    const files = json['files'];
    if (!isRecord(files)) {
      if ('files' in json) this.#report(`files must name ${needed.join(', ')}`);
      return { paths, contents, sha256ByPath };
    }
    for (const file of [...needed, ...optional.filter((name) => name in files)]) {
      const checked = await this.#file(file, files[file]);
      if (checked === null) continue;
      paths.set(file, checked.path);
      sha256ByPath.set(checked.path, checked.sha256);
      if (checked.bytes !== null) contents.set(file, checked.bytes);
    }
    for (const extra of Object.keys(files)) {
      if (![...needed, ...optional].includes(extra)) {
        this.#report(`files has an unknown entry ${extra}; it needs ${needed.join(', ')}`);
      }
    }
    return { paths, contents, sha256ByPath };
  }

  #checkTransducer(
    contents: ReadonlyMap<string, Buffer>,
    model: { language: string; contextSize: readonly [number, number] },
  ): void {
    const tokens = contents.get('tokens');
    const encoder = contents.get('encoder');
    const counted = tokens === undefined ? null : countTokens(tokens.toString('utf8'));
    const tokenCount = typeof counted === 'number' ? counted : null;
    const problems = encoder === undefined ? [] : checkEncoder(encoder, { ...model, tokenCount });
    if (typeof counted === 'string') problems.push(counted);
    for (const problem of problems) this.#report(problem);
  }

  #checkOfflineCtc(contents: ReadonlyMap<string, Buffer>): void {
    const tokens = contents.get('tokens');
    const parsed = tokens === undefined ? null : parseCtcTokens(tokens.toString('utf8'));
    if (typeof parsed === 'string') this.#report(parsed);
    const model = contents.get('model');
    const problem = model === undefined ? null : checkCtcModel(model);
    if (problem !== null) this.#report(problem);
  }

  #checkZipformer(contents: ReadonlyMap<string, Buffer>): number {
    const { chunkFrames, problems } = checkZipformer(contents);
    for (const problem of problems) this.#report(problem);
    return chunkFrames;
  }

  /** A child process would fail with it only later. */
  #checkLanguageModel(contents: ReadonlyMap<string, Buffer>, decoding: Decoding | null): void {
    const bytes = contents.get('lm');
    if (bytes === undefined || decoding?.lm === undefined) return;
    try {
      scorersOf(NgramModel.parse(bytes), decoding.lm.unit, contents.get('unigrams')?.toString());
    } catch (error) {
      if (!(error instanceof InvalidLanguageModel)) throw error;
      this.#report(`files.lm: ${error.message}`);
    }
  }

  async #file(
    file: string,
    entry: unknown,
  ): Promise<{ path: string; bytes: Buffer | null; sha256: string } | null> {
    const path = isRecord(entry) ? entry['path'] : undefined;
    const sha256 = isRecord(entry) ? entry['sha256'] : undefined;
    if (typeof path !== 'string' || typeof sha256 !== 'string') {
      this.#report(`files.${file} must be { "path": ..., "sha256": ... }`);
      return null;
    }
    const whole = await this.#files.resolve(path);
    if (whole === null) {
      this.#report(`files.${file} leaves the models directory: ${path}`);
      return null;
    }
    const content = await this.#files.read(path);
    if (content === null) {
      this.#report(`files.${file} is missing: ${path}; is this a checkout without the weights?`);
      return null;
    }
    if (content.sha256 !== sha256) {
      this.#report(
        `files.${file} is not the file the manifest was made for: ${path} has sha256 ` +
          `${content.sha256}; fetch it again, or recreate the manifest if you changed it on purpose`,
      );
      return null;
    }
    return { path: whole, bytes: content.bytes, sha256 };
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}
