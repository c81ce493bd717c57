import { basename, dirname } from 'node:path';
import type { ModelId } from '@svc-asr/protocol';
import type { CatalogueEntry, RemoteFile } from './catalogue.ts';
import type { Hub, HubFile, HubRepository } from './hub.ts';
import { LANGUAGES, MODEL_OF, type Language } from './languages.ts';
import type { SetDecoding } from './model-set.ts';
import { Problem } from './problem.ts';

type Recognised = Pick<CatalogueEntry, 'kind' | 'about' | 'notes' | 'files' | 'decoding'>;

const CONFIG_BYTES_MAX = 4_000_000;
/** Larger than every model that a machine of ours can hold. */
const MODEL_BYTES_MAX = 20_000_000_000;
const PARTS = ['encoder', 'decoder', 'joiner'];
const LABELS = ['tokens.txt', 'labels.json', 'vocab.json'];
const EIGHT_BIT = /int8|uint8|quantized/i;
/** Files of KenLM; other .bin files are weights or settings of training. */
const LANGUAGE_MODEL =
  /\.arpa$|(?:kenlm|gram|language_model|(?<![a-z])lm(?![a-z]))[^/]*(?:\/[^/]*)?\.(?:bin|binary|klm)$/i;
const TORCH = /\.(?:safetensors|pt|pth|ckpt)$|pytorch_model.*\.bin$/;
/** Architectures that take samples. Those in the second list take features, which the engine computes for no CTC model. */
const OF_SAMPLES =
  /^(?:wav2vec2|wav2vec2-conformer|hubert|wavlm|data2vec-audio|unispeech|unispeech-sat|sew|sew-d)$/;
const OF_FEATURES = /wav2vec2-bert|speech_to_text|seamless|parakeet|lasr|granite/;

const NAMED: Readonly<Record<Language, RegExp>> = {
  ki: /(?<![a-z])(?:ki|kik|kikuyu|gikuyu)(?![a-z])/i,
  luo: /(?<![a-z])(?:luo|dholuo)(?![a-z])/i,
};

/** Says what a repository is, which of its files are needed and what becomes of them. Throws a Problem with the reason otherwise. */
export async function recognise(
  repository: HubRepository,
  options: {
    readonly hub: Hub;
    /** Paths of weights to take, if not all. */
    readonly only: readonly string[];
    /** Whether a catalogue names the model's labels elsewhere. */
    readonly hasLabels: boolean;
  },
): Promise<Recognised> {
  const { only } = options;
  const { id } = repository;
  const missing = only.find((path) => repository.files.every((file) => file.path !== path));
  if (missing !== undefined) throw new Problem(`${id} has no file ${missing}.`);
  const named = (file: HubFile): boolean => only.length === 0 || only.includes(file.path);
  const weights = repository.files.filter(
    (file) => named(file) || LABELS.includes(basename(file.path)) || file.path.endsWith('.json'),
  );
  const found = await find({ ...repository, files: weights }, options);
  const bytes = (found.files ?? []).reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > MODEL_BYTES_MAX) {
    throw new Problem(`${id} says that it has ${Math.round(bytes / 1e9)} GB. The most is 20 GB.`);
  }
  return found;
}

interface FindOptions {
  readonly hub: Hub;
  readonly hasLabels: boolean;
}

async function find(repository: HubRepository, options: FindOptions): Promise<Recognised> {
  const { hub } = options;
  const { files } = repository;
  const architecture = await architectureOf(files, hub);
  if (architecture === 'whisper') {
    throw refuse(repository, 'it is a Whisper model, which repeats itself when it is streamed');
  }
  const [checkpoint, ...others] = files.filter(({ path }) => path.endsWith('.nemo'));
  if (checkpoint !== undefined) {
    return {
      kind: 'nemo',
      about: 'a NeMo checkpoint',
      notes: 'NeMo exports it for the engine, which takes some minutes.',
      files: [as('checkpoint.nemo', one('NeMo checkpoint', [checkpoint, ...others]))],
    };
  }
  const onnx = files.filter(({ path }) => path.endsWith('.onnx'));
  const parts = onnx.filter((file) => PARTS.some((part) => basename(file.path).startsWith(part)));
  if (parts.length > 0) return findZipformer(repository, parts);
  if (onnx.length > 0) {
    if (OF_FEATURES.test(architecture)) {
      throw refuse(
        repository,
        `${architecture} takes features, and the engine gives a CTC model samples`,
      );
    }
    return findCtc(repository, onnx, { ...options, architecture });
  }
  const decoding = await languageModels(repository, hub);
  if (decoding.files.length > 0) {
    return {
      kind: 'lm',
      about: 'n-gram language models',
      notes: 'They are added to an installed model.',
      ...decoding,
    };
  }
  if (files.some(({ path }) => TORCH.test(path))) throw refuseTorch(repository, architecture);
  throw refuse(repository, 'it has no ONNX export, NeMo checkpoint or n-gram model');
}

async function findCtc(
  repository: HubRepository,
  onnx: readonly HubFile[],
  { architecture, hub, hasLabels }: FindOptions & { readonly architecture: string },
): Promise<Recognised> {
  const eight = onnx.filter(({ path }) => EIGHT_BIT.test(path));
  const model = one('ONNX model', eight.length > 0 ? eight : onnx);
  if (
    repository.files.some(({ path }) => [`${model.path}_data`, `${model.path}.data`].includes(path))
  ) {
    throw refuse(
      repository,
      `${model.path} has its weights in a second file, which is only used for large float models`,
    );
  }
  const labels = LABELS.flatMap((name) => nearest(repository.files, model, name)).at(0);
  if (labels === undefined && !hasLabels) {
    throw refuse(
      repository,
      `it has none of ${LABELS.join(', ')}, so nobody knows what its labels are`,
    );
  }
  const decoding = await languageModels(repository, hub);
  const name = OF_SAMPLES.test(architecture) ? `${architecture}-style CTC` : 'CTC';
  return {
    kind: 'offline_ctc',
    about: `an offline ${name} model in ONNX${decoding.files.length > 0 ? ' with language models' : ''}`,
    notes: 'It is streamed in overlapping windows. Only the letters of Kikuyu and Dholuo are kept.',
    files: [
      as('model.onnx', model),
      ...(labels === undefined ? [] : [as(basename(labels.path), labels)]),
      ...decoding.files,
    ],
    decoding: decoding.decoding,
  };
}

function findZipformer(repository: HubRepository, onnx: readonly HubFile[]): Recognised {
  const found = PARTS.map((part) => {
    const own = onnx.filter(({ path }) => basename(path).startsWith(part));
    // The decoder only looks up a few numbers, so its 8-bit form saves nothing.
    const full = own.filter(({ path }) => !EIGHT_BIT.test(path));
    const eight = own.filter(({ path }) => EIGHT_BIT.test(path));
    const first = part === 'decoder' ? [full, eight] : [eight, full];
    const chosen = first.find((files) => files.length > 0);
    if (chosen !== undefined) return as(`${part}.onnx`, one(`${part} in ONNX`, chosen));
    throw refuse(
      repository,
      `it has an encoder and a decoder but no ${part}, so it is not a transducer (Whisper has such files)`,
    );
  });
  const tokens = repository.files.find(({ path }) => basename(path) === 'tokens.txt');
  if (tokens === undefined) throw refuse(repository, 'it has no tokens.txt');
  return {
    kind: 'zipformer_transducer',
    about: "icefall's Zipformer transducer in ONNX",
    notes: 'It is served if it is a streaming export, which its files tell after the download.',
    files: [...found, as('tokens.txt', tokens)],
  };
}

/** The n-gram models of our languages, each with its word list and the weights it was tuned with. */
async function languageModels(
  { files, languages }: HubRepository,
  hub: Hub,
): Promise<{ files: RemoteFile[]; decoding: NonNullable<CatalogueEntry['decoding']> }> {
  const models = files.filter(({ path }) => LANGUAGE_MODEL.test(path) && !TORCH.test(path));
  const chosen: RemoteFile[] = [];
  const decoding: Partial<Record<ModelId, SetDecoding>> = {};
  for (const short of LANGUAGES) {
    const named = NAMED[short];
    const isOnly = languages.length === 1 && languages.some((language) => named.test(language));
    const own = models.filter(({ path }) => named.test(path) || (isOnly && models.length === 1));
    const binary = own.filter(({ path }) => !path.endsWith('.arpa'));
    if (own.length === 0) continue;
    const model = one(`language model for ${short}`, binary.length > 0 ? binary : own);
    const beside = files.filter(({ path }) => dirname(path) === dirname(model.path));
    const lists = beside.filter(({ path }) => path.endsWith('unigrams.txt'));
    const words =
      lists.find(({ path }) => named.test(basename(path))) ??
      lists.find(({ path }) => models.length === 1 && basename(path) === 'unigrams.txt');
    const attributes = beside.find(({ path }) => basename(path) === 'attrs.json');
    chosen.push(as(`lm-${short}`, model));
    if (words !== undefined) chosen.push(as(`unigrams-${short}`, words));
    decoding[MODEL_OF[short]] = {
      lm: `lm-${short}`,
      ...(words === undefined ? {} : { unigrams: `unigrams-${short}` }),
      ...(attributes === undefined ? {} : await tunedWith(attributes, hub)),
    };
  }
  return { files: chosen, decoding };
}

/** The weights that pyctcdecode saves beside a language model. */
async function tunedWith(file: HubFile, hub: Hub): Promise<SetDecoding> {
  const saved = await readConfig(file, hub);
  if (saved['score_boundary'] === false) {
    throw new Problem(`${file.path}: score_boundary false is not supported.`);
  }
  const names = new Set(['alpha', 'beta', 'unk_score_offset']);
  return Object.fromEntries(
    Object.entries(saved).filter(([name, value]) => names.has(name) && Number.isFinite(value)),
  );
}

async function architectureOf(files: readonly HubFile[], hub: Hub): Promise<string> {
  const file = files.find(({ path }) => path === 'config.json');
  const config = file === undefined ? {} : await readConfig(file, hub);
  return typeof config['model_type'] === 'string' ? config['model_type'].slice(0, 40) : '';
}

async function readConfig(file: HubFile, hub: Hub): Promise<Record<string, unknown>> {
  if (file.bytes > CONFIG_BYTES_MAX)
    throw new Problem(`${file.path} is too large for a configuration.`);
  try {
    const config: unknown = JSON.parse(await hub.read(file));
    return typeof config === 'object' && config !== null ? { ...config } : {};
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(`${file.path} is not JSON.`);
  }
}

/** The file of this name in the model's folder, or else the only one of the repository. */
function nearest(files: readonly HubFile[], model: HubFile, name: string): HubFile[] {
  const all = files.filter(({ path }) => basename(path) === name);
  const beside = all.filter(({ path }) => dirname(path) === dirname(model.path));
  return beside.length > 0 || all.length > 1 ? beside : all;
}

function as(name: string, file: HubFile): RemoteFile {
  return { as: name, ...file };
}

function one(what: string, files: readonly HubFile[]): HubFile {
  const [file, ...others] = files;
  if (file !== undefined && others.length === 0) return file;
  const paths = files.map(({ path }) => path).join(', ');
  throw new Problem(
    `The repository has several files for its ${what}: ${paths}. Choose with --file PATH.`,
  );
}

function refuseTorch(repository: HubRepository, architecture: string): Problem {
  if (!OF_SAMPLES.test(architecture)) {
    return refuse(
      repository,
      `it has only PyTorch weights${architecture === '' ? '' : ` (${architecture})`}`,
    );
  }
  const { id } = repository;
  return refuse(
    repository,
    `it has only PyTorch weights (${architecture}). Export them: ` +
      `optimum-cli export onnx --model ${id} --task automatic-speech-recognition out, and then ` +
      'svc-models import ctc out/model.onnx --tokens out/vocab.json',
  );
}

function refuse({ id }: HubRepository, reason: string): Problem {
  return new Problem(
    `${id} cannot be served: ${reason}. The engine takes CTC models of samples in ONNX (omniASR, wav2vec2), ` +
      'streaming Zipformer transducers of icefall, NeMo checkpoints, and ARPA or KenLM language models.',
  );
}
