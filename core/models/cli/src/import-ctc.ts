import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { cacheFeatures } from './graph/cache-features.ts';
import { modelName } from './model-name.ts';
import { installModelSet, PROMPTS, type ModelSet } from './model-set.ts';
import { pruneTokens, tokensOfLabels, tokensOfVocabulary } from './orthography.ts';
import { Problem } from './problem.ts';
import { quantise, signedIsExact } from './quantise.ts';
import type { Terminal } from './terminal.ts';

const LETTERS_MIN = 20;
/** How the labels of a CTC model are published, and what makes tokens.txt of them. */
const LABELS: Readonly<Record<string, (text: string) => string>> = {
  'labels.json': tokensOfLabels,
  'vocab.json': tokensOfVocabulary,
  'tokens.txt': (text) => text,
};

/** Of every command that installs an offline CTC model. */
export const STREAMED_OPTION = [
  '--streamed',
  'keep keys and values of earlier audio: more streams, earlier finals, other words in places',
  false,
] as const;

interface CtcOptions {
  readonly tokens: string;
  readonly name: string;
  readonly licence: string;
  readonly asPublished: boolean;
  readonly streamed: boolean;
}

/** `svc-models import ctc`: installs an offline CTC model of this machine. */
export function addImportCtc(
  command: Command,
  { modelsDir, terminal }: { modelsDir: () => string; terminal: Terminal },
): void {
  command
    .command('ctc <file>')
    .description('install an offline CTC model in ONNX: omniASR, wav2vec2 and their kind')
    .requiredOption('--tokens <file>', 'its labels: tokens.txt, labels.json or vocab.json')
    .requiredOption('--name <name>', 'name of the model')
    .requiredOption('--licence <licence>', 'licence of the weights')
    .option('--as-published', 'do not make the weights signed 8-bit ones', false)
    .option(...STREAMED_OPTION)
    .action(async (file: string, options: CtcOptions) => {
      await importCtc(file, { ...options, modelsDir: modelsDir(), terminal });
      terminal.say(`${options.name} is installed. svc-models use ${options.name} serves it.`);
    });
}

async function importCtc(
  file: string,
  options: CtcOptions & { readonly modelsDir: string; readonly terminal: Terminal },
): Promise<void> {
  const { modelsDir, licence, tokens } = options;
  const build = modelName(options.name);
  const staging = `.${build}.staging`;
  const folder = join(modelsDir, staging);
  const labels = basename(tokens).endsWith('.json') ? basename(tokens) : 'tokens.txt';
  if (!(labels in LABELS)) {
    throw new Problem(`--tokens must be a file named ${Object.keys(LABELS).join(', ')}.`);
  }
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  try {
    for (const [from, to] of [
      [file, 'model.onnx'],
      [tokens, labels],
    ] as const) {
      await copyFile(from, join(folder, to)).catch(() => {
        throw new Problem(`${from} cannot be read.`);
      });
    }
    const source = `imported from ${basename(file)}`;
    const set = await ctcSet(folder, { ...options, given: { build, licence, source } });
    await installModelSet(modelsDir, { staging, name: build, set });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Prepares model.onnx and the labels beside it for the engine, and describes them. */
export async function ctcSet(
  folder: string,
  input: {
    readonly given: Pick<ModelSet, 'build' | 'licence' | 'source' | 'stated' | 'decoding'>;
    readonly asPublished: boolean;
    readonly streamed: boolean;
    readonly terminal: Terminal;
  },
): Promise<ModelSet> {
  const { given, asPublished, streamed, terminal } = input;
  const tokens = join(folder, 'tokens.txt');
  const pruned = pruneTokens(await readLabels(folder));
  if (pruned.kept < LETTERS_MIN) {
    throw new Problem(
      `Only ${pruned.kept} of its ${pruned.of} labels are letters of our languages. It was trained for other ones, ` +
        'writes capital letters, or writes word pieces.',
    );
  }
  // A new file: the old one may be a link to the download.
  await rm(tokens, { force: true });
  await writeFile(tokens, pruned.text);
  terminal.say(`Kept ${pruned.kept} of ${pruned.of} labels: the letters of Kikuyu and Dholuo.`);
  if (!asPublished) {
    const isExact = await signedIsExact();
    terminal.say(await quantise(join(folder, 'model.onnx'), { isExact }));
  }
  terminal.say(await cacheFeatures(join(folder, 'model.onnx'), streamed));
  return {
    ...given,
    kind: 'offline_ctc',
    normaliser: 'none',
    extra_lead_in_ms: 0,
    languages: PROMPTS,
    files: { model: 'model.onnx', tokens: 'tokens.txt' },
  };
}

async function readLabels(folder: string): Promise<string> {
  for (const [name, toTokens] of Object.entries(LABELS)) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => null);
    if (text !== null) return toTokens(text);
  }
  throw new Problem(`The model has none of ${Object.keys(LABELS).join(', ')}.`);
}
