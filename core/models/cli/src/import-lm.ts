import { copyFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { NgramModel } from '@svc-asr/engine';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { MODEL_OF, type Language } from './languages.ts';
import { readModelSet, writeModelSet, type SetDecoding } from './model-set.ts';
import { Problem } from './problem.ts';
import type { Terminal } from './terminal.ts';

interface LmOptions {
  readonly into: string;
  readonly for: Language;
  readonly unit: 'character' | 'word';
  readonly alpha: number;
  readonly beta: number;
  readonly beam: number;
  readonly prune: number;
  readonly pruneLabels: number;
  readonly unigrams?: string;
  readonly unkScoreOffset?: number;
}

/** A word of a model of characters. */
const LETTER = /^(?:.|<.+>)$/u;

/** pyctcdecode's defaults, with which published models of words are used unless their authors say otherwise. */
const WORD_DEFAULTS: SetDecoding = { alpha: 0.5, beta: 1.5, beam: 100, prune_labels: 5 };

/** `svc-models import lm`: adds a language model to an installed CTC or Zipformer model, for one language. */
export function addImportLm(
  command: Command,
  { modelsDir, terminal }: { modelsDir: () => string; terminal: Terminal },
): void {
  command
    .command('lm <file>')
    .description(
      'add a language model (ARPA or KenLM probing binary) to an installed CTC or Zipformer model',
    )
    .requiredOption('--into <name>', 'the installed model')
    .addOption(language())
    .addOption(
      new Option('--unit <unit>', 'what its n-grams consist of')
        .choices(['character', 'word'])
        .makeOptionMandatory(),
    )
    .option('--alpha <number>', 'weight of the language model', toNumber, 1)
    .option('--beta <number>', 'bonus for each word', toNumber, 0.5)
    .option('--beam <number>', 'how many texts are followed', toNumber, 16)
    .option('--prune <nats>', 'drop texts this much worse than the best', toNumber, 10)
    .option('--prune-labels <nats>', 'ignore letters less likely than this', toNumber, 6)
    .option('--unigrams <file>', 'its word list, one a line: other words count as unknown')
    .option('--unk-score-offset <number>', 'added for an unknown word (default: -10)', toNumber)
    .action(async (file: string, options: LmOptions) => {
      const { pruneLabels, unkScoreOffset, unigrams, into, for: language, ...use } = options;
      await importLm('', {
        ...use,
        lm: resolve(file),
        ...(unigrams === undefined ? {} : { unigrams: resolve(unigrams) }),
        ...(unkScoreOffset === undefined ? {} : { unk_score_offset: unkScoreOffset }),
        prune_labels: pruneLabels,
        modelsDir: modelsDir(),
        into,
        for: language,
      });
      terminal.say(
        `${options.into} has a language model. svc-models use ${options.into} serves it.`,
      );
    });
}

function language(): Option {
  return new Option('--for <language>', 'its language')
    .choices(['ki', 'luo'])
    .makeOptionMandatory();
}

/** Copies a language model, and its word list if it has one, from `folder` into an installed model. */
export async function importLm(
  folder: string,
  input: SetDecoding & {
    readonly modelsDir: string;
    readonly into: string;
    readonly for: Language;
  },
): Promise<void> {
  const { modelsDir, into, for: language, lm = '', unigrams, ...use } = input;
  const set = await readModelSet(modelsDir, into);
  if (set.kind === 'transducer') {
    throw new Problem(
      `${into} is a NeMo transducer. Only CTC and Zipformer models take a language model.`,
    );
  }
  const sources = new Map([[`lm-${language}`, join(folder, lm)]]);
  if (unigrams !== undefined) sources.set(`unigrams-${language}`, join(folder, unigrams));
  const staged = (name: string): string => join(modelsDir, into, `${name}.staging`);
  try {
    for (const [name, from] of sources) {
      await copyFile(from, staged(name)).catch(() => {
        throw new Problem(`${from} cannot be read.`);
      });
    }
    await loadLm(staged(`lm-${language}`), join(folder, lm));
    for (const name of sources.keys()) await rename(staged(name), join(modelsDir, into, name));
  } finally {
    for (const name of sources.keys()) await rm(staged(name), { force: true });
  }
  const names = {
    lm: `lm-${language}`,
    ...(unigrams === undefined ? {} : { unigrams: `unigrams-${language}` }),
  };
  await writeModelSet(join(modelsDir, into), {
    ...set,
    decoding: { ...set.decoding, [MODEL_OF[language]]: { ...names, ...use } },
  });
}

/** Adds what the files of a language model say of it: whether it is one of words, and then pyctcdecode's weights. */
export async function completeDecoding(folder: string, use: SetDecoding): Promise<SetDecoding> {
  if (use.lm === undefined || use.unit !== undefined) return use;
  const { words } = await loadLm(join(folder, use.lm), use.lm);
  if (words?.every((word) => LETTER.test(word)) === true) return { unit: 'character', ...use };
  return { unit: 'word', ...WORD_DEFAULTS, ...use };
}

async function loadLm(path: string, name: string): Promise<NgramModel> {
  try {
    return await NgramModel.load(path);
  } catch (error) {
    throw new Problem(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function toNumber(value: string): number {
  const number = Number(value);
  if (value.trim() !== '' && Number.isFinite(number)) return number;
  throw new InvalidArgumentError('Use a number.');
}
