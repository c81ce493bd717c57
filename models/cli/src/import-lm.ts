import { copyFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { NgramModel } from '@svc-asr/engine';
import type { ModelId } from '@svc-asr/protocol';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { readModelSet, writeModelSet, type SetDecoding } from './model-set.ts';
import { Problem } from './problem.ts';
import type { Terminal } from './terminal.ts';

interface LmOptions {
  readonly into: string;
  readonly for: 'ki' | 'luo';
  readonly unit: 'character' | 'word';
  readonly alpha: number;
  readonly beta: number;
  readonly beam: number;
  readonly prune: number;
  readonly pruneLabels: number;
}

const MODEL_OF: Readonly<Record<'ki' | 'luo', ModelId>> = {
  ki: 'svc-asr-kikuyu-v1',
  luo: 'svc-asr-dholuo-v1',
};

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
    .action(async (file: string, options: LmOptions) => {
      await importLm(file, { ...options, modelsDir: modelsDir() });
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

async function importLm(file: string, options: LmOptions & { modelsDir: string }): Promise<void> {
  const { modelsDir, into, unit, alpha, beta, beam, prune, pruneLabels } = options;
  const set = await readModelSet(modelsDir, into);
  if (set.kind === 'transducer') {
    throw new Problem(
      `${into} is a NeMo transducer. Only CTC and Zipformer models take a language model.`,
    );
  }
  const lm = `lm-${options.for}`;
  const target = join(modelsDir, into, lm);
  const staging = `${target}.staging`;
  try {
    await copyFile(file, staging);
  } catch {
    throw new Problem(`${file} cannot be read.`);
  }
  try {
    await NgramModel.load(staging);
  } catch (error) {
    await rm(staging);
    throw new Problem(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  await rm(target, { force: true });
  await rename(staging, target);
  const decoding: SetDecoding = { lm, unit, alpha, beta, beam, prune, prune_labels: pruneLabels };
  await writeModelSet(join(modelsDir, into), {
    ...set,
    decoding: { ...set.decoding, [MODEL_OF[options.for]]: decoding },
  });
}

function toNumber(value: string): number {
  const number = Number(value);
  if (value.trim() !== '' && Number.isFinite(number)) return number;
  throw new InvalidArgumentError('Use a number.');
}
