import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { modelName } from './model-name.ts';
import { installModelSet, PROMPTS, type ModelSet } from './model-set.ts';
import { Problem } from './problem.ts';
import type { Terminal } from './terminal.ts';

interface ZipformerOptions {
  readonly name: string;
  readonly licence: string;
  readonly int8: boolean;
  readonly normaliser: string;
}

const PARTS = ['encoder', 'decoder', 'joiner'] as const;

/** `svc-models import zipformer`: installs a streaming Zipformer transducer that icefall exported to ONNX. */
export function addImportZipformer(
  command: Command,
  { modelsDir, terminal }: { modelsDir: () => string; terminal: Terminal },
): void {
  command
    .command('zipformer <folder>')
    .description('install a streaming Zipformer transducer that icefall exported to ONNX')
    .requiredOption('--name <name>', 'name of the model')
    .requiredOption('--licence <licence>', 'licence of the weights')
    .option('--int8', 'take the 8-bit encoder and joiner of the folder', false)
    .option('--normaliser <name>', 'how the text was normalised in training', 'none')
    .action(async (folder: string, options: ZipformerOptions) => {
      await importZipformer(folder, { ...options, modelsDir: modelsDir() });
      terminal.say(`${options.name} is installed. svc-models use ${options.name} serves it.`);
    });
}

async function importZipformer(
  folder: string,
  options: ZipformerOptions & { readonly modelsDir: string },
): Promise<void> {
  const { modelsDir, licence, normaliser, int8 } = options;
  const name = modelName(options.name);
  const names = await readdir(folder).catch(() => null);
  if (names === null) throw new Problem(`${folder} cannot be read.`);
  const staging = `.${name}.staging`;
  await rm(join(modelsDir, staging), { recursive: true, force: true });
  await mkdir(join(modelsDir, staging), { recursive: true });
  try {
    for (const part of PARTS) {
      const file = findPart(names, part, int8);
      await copyFile(join(folder, file), join(modelsDir, staging, `${part}.onnx`));
    }
    if (!names.includes('tokens.txt')) throw new Problem(`${folder} has no tokens.txt.`);
    await copyFile(join(folder, 'tokens.txt'), join(modelsDir, staging, 'tokens.txt'));
    await installModelSet(modelsDir, {
      staging,
      name,
      set: zipformerSet({ build: name, licence, normaliser, source: 'icefall export' }),
    });
  } finally {
    await rm(join(modelsDir, staging), { recursive: true, force: true });
  }
}

/** icefall names its files after epochs and chunks, and writes an 8-bit one beside each. */
function findPart(names: readonly string[], part: string, int8: boolean): string {
  const all = names.filter((name) => name.startsWith(part) && name.endsWith('.onnx'));
  const eight = all.filter((name) => name.includes('.int8.'));
  const full = all.filter((name) => !name.includes('.int8.'));
  // The decoder only looks up a few numbers, so its 8-bit form saves nothing.
  const found = int8 && part !== 'decoder' ? eight : full;
  const [file] = found;
  const wanted = `${part}*${found === eight ? '.int8' : ''}.onnx`;
  if (file === undefined) throw new Problem(`The folder has no ${wanted}.`);
  if (found.length > 1) {
    throw new Problem(`The folder has several ${wanted}: ${found.join(', ')}. Leave one.`);
  }
  return file;
}

type Given = Pick<ModelSet, 'build' | 'licence' | 'normaliser' | 'source' | 'stated'>;

/** The description of encoder.onnx, decoder.onnx, joiner.onnx and tokens.txt in one folder. */
export function zipformerSet(given: Given): ModelSet {
  const parts = PARTS.map((part) => [part, `${part}.onnx`]);
  return {
    ...given,
    kind: 'zipformer_transducer',
    extra_lead_in_ms: 0,
    languages: PROMPTS,
    files: { ...Object.fromEntries(parts), tokens: 'tokens.txt' },
  };
}
