import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { MODEL_IDS } from '@svc-asr/protocol';
import { Command, CommanderError, Option } from 'commander';
import { bytesOf, findEntry, readCatalogue, type CatalogueEntry } from './catalogue.ts';
import { entryFromHub } from './fetch-from-hub.ts';
import { fetchModel, type FetchOptions } from './fetch-model.ts';
import { Hub } from './hub.ts';
import { addImportCtc, STREAMED_OPTION } from './import-ctc.ts';
import { addImportLm } from './import-lm.ts';
import { importNemo } from './import-nemo.ts';
import { addImportZipformer } from './import-zipformer.ts';
import { MODEL_OF, type Language } from './languages.ts';
import { modelName } from './model-name.ts';
import { buildsInUse, installedSets, readModelSet, useModelSet } from './model-set.ts';
import { Problem } from './problem.ts';
import { inMegabytes, table, type Terminal } from './terminal.ts';
import { streamsPerCore, tryModel } from './try-model.ts';

const ROOT = join(import.meta.dirname, '../../../..');

/** Options that every command takes. */
interface GlobalOptions {
  readonly models?: string;
  readonly catalogue?: string;
}

interface FetchCommand extends Omit<FetchOptions, 'modelsDir' | 'hub' | 'terminal'> {
  readonly file: readonly string[];
  readonly name?: string;
  readonly use: boolean;
}

/** Runs one command and returns the exit status. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  let status = 0;
  const program = new Command('svc-models');
  const modelsDir = (): string =>
    resolve(
      program.opts<GlobalOptions>().models ??
        (process.env['MODELS_DIR'] || join(ROOT, 'core/models')),
    );
  const catalogue = (): string | undefined => program.opts<GlobalOptions>().catalogue;
  program
    .description('Download, choose and compare recognition models.')
    .option('--models <dir>', 'models folder (default: MODELS_DIR, else core/models/)')
    .option('--catalogue <file>', 'another catalogue file')
    .configureOutput({ writeOut: (text) => terminal.say(text.trimEnd()), writeErr: () => {} })
    .addHelpText(
      'after',
      '\n  svc-models fetch omniasr-ctc-300m --use\n  svc-models try omniasr-ctc-300m recording.wav',
    )
    .exitOverride();
  program
    .command('list')
    .description('list installed models, those in use, and the catalogue')
    .action(async () => {
      await list({ modelsDir: modelsDir(), catalogue: catalogue(), terminal });
    });
  program
    .command('fetch <name>')
    .description(
      'download a model of the catalogue, or of a hub: hf:OWNER/NAME[@REVISION]; resumes, and checks hashes',
    )
    .option('--use', 'serve it after the next restart', false)
    .option('--name <name>', 'another name for a model of a hub')
    .option('--file <paths...>', 'which weights to take, if a repository has several', [])
    .option('--into <name>', 'the installed model that gets the language models of a repository')
    .option('--accept-licence', 'do not ask about the licence', false)
    .option('--as-published', 'do not make the weights signed 8-bit ones', false)
    .option(...STREAMED_OPTION)
    .option('--sha256 <FILE=HEX...>', 'hashes of files that have none in the catalogue', [])
    .option(
      '--trust-first-download',
      'accept files without a hash, and refuse others at their address from then on',
      false,
    )
    .action(async (name: string, options: FetchCommand) => {
      const hub = new Hub();
      const entry = await findModel(name, { hub, catalogue: catalogue(), options });
      const installed = await fetchModel(entry, {
        ...options,
        hub,
        modelsDir: modelsDir(),
        terminal,
      });
      if (options.use) {
        return use({ modelsDir: modelsDir(), name: installed, language: undefined, terminal });
      }
      terminal.say(`${installed} is installed. svc-models use ${installed} serves it.`);
    });
  addImport(program, { modelsDir, terminal });
  program
    .command('use <name>')
    .description('serve this model after the next restart')
    .addOption(new Option('--for <language>', 'for one language only').choices(['ki', 'luo']))
    .action(async (name: string, options: { for?: Language }) => {
      await use({ modelsDir: modelsDir(), name, language: options.for, terminal });
    });
  program
    .command('try <name> <recording>')
    .description('print the text of a WAV file, the time per audio second and the memory')
    .addOption(new Option('--language <language>', 'its language').choices(['ki', 'luo']))
    .action(async (name: string, recording: string, options: { language?: Language }) => {
      const { language = 'ki' } = options;
      await tryModel({ modelsDir: modelsDir(), name, recording, language, terminal });
    });
  withRecordings(program.command('compare <names...>'))
    .description('show error rates side by side and write a report')
    .action(async (names: string[], options: EvaluateOptions) => {
      status = await evaluate(options, ['--compare', names.join(','), '--models', modelsDir()]);
    });
  withRecordings(program.command('sweep [name]'))
    .description('find the best extra_lead_in_ms, or alpha, beta and beam of a language model')
    .option('--lm-text <files...>', 'text of the language model: its sentences must not be spoken')
    .action(async (name: string | undefined, options: EvaluateOptions) => {
      status = await evaluate(options, ['--sweep', name ?? '', '--models', modelsDir()]);
    });
  program
    .command('label')
    .description('recognise recordings without texts, and write a NeMo manifest to train with')
    .requiredOption('--folder <dir>', 'recordings: NAME.wav')
    .requiredOption('--with <name>', 'the installed model that recognises them')
    .addOption(
      new Option('--language <language>', 'language of the recordings').choices(['ki', 'luo']),
    )
    .option('--out <dir>', 'output folder of labels.json (default: eval-report)')
    .action(async (options: EvaluateOptions & { with: string }) => {
      status = await evaluate(options, ['--label', options.with, '--models', modelsDir()]);
    });
  try {
    await program.parseAsync(args.length === 0 ? ['--help'] : args, { from: 'user' });
    return status;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    throw new Problem(`${error.message}\nSee svc-models --help.`);
  }
}

async function findModel(
  name: string,
  input: { hub: Hub; catalogue: string | undefined; options: FetchCommand },
): Promise<CatalogueEntry> {
  const { hub, options } = input;
  const only = options.file;
  if (Hub.isAddress(name)) {
    const entry = await entryFromHub(hub, name, { only });
    return { ...entry, name: modelName(options.name ?? entry.name) };
  }
  const given = findEntry(await readCatalogue(input.catalogue), name);
  return given.hub === undefined ? given : entryFromHub(hub, given.hub, { only, given });
}

interface ImportOptions {
  readonly name: string;
  readonly licence: string;
  readonly int8: boolean;
  readonly kikuyuPrompt: string;
  readonly dholuoPrompt: string;
  readonly normaliser: string;
}

function addImport(
  program: Command,
  { modelsDir, terminal }: { modelsDir: () => string; terminal: Terminal },
): void {
  const command = program.command('import').description('import your own model');
  addImportCtc(command, { modelsDir, terminal });
  addImportLm(command, { modelsDir, terminal });
  addImportZipformer(command, { modelsDir, terminal });
  command
    .command('nemo <file>')
    .description('export a NeMo checkpoint for the engine')
    .requiredOption('--name <name>', 'name of the model')
    .requiredOption('--licence <licence>', 'licence of the checkpoint')
    .option('--int8', 'signed 8-bit weights: more than twice the streams per core', false)
    .option(
      '--kikuyu-prompt <code>',
      "language code in the checkpoint's prompt_dictionary",
      'ki-KE',
    )
    .option(
      '--dholuo-prompt <code>',
      "language code in the checkpoint's prompt_dictionary",
      'luo-KE',
    )
    .option('--normaliser <name>', 'how the text was normalised in training', 'kikuyu-dholuo-1')
    .action(async (checkpoint: string, options: ImportOptions) => {
      const { licence, int8, normaliser } = options;
      const name = modelName(options.name);
      const prompts = { kikuyu: options.kikuyuPrompt, dholuo: options.dholuoPrompt };
      await importNemo({
        checkpoint,
        modelsDir: modelsDir(),
        name,
        licence,
        int8,
        prompts,
        normaliser,
        terminal,
      });
      terminal.say(`${name} is installed. svc-models use ${name} serves it.`);
    });
}

async function list(input: {
  modelsDir: string;
  catalogue: string | undefined;
  terminal: Terminal;
}): Promise<void> {
  const { modelsDir, terminal } = input;
  const builds = await buildsInUse(modelsDir);
  const rows = [['installed', 'kind', 'licence', 'languages', 'streams a core', 'in use for']];
  const published: string[] = [];
  for (const name of await installedSets(modelsDir)) {
    const set = await readModelSet(modelsDir, name);
    const ids = MODEL_IDS.filter((id) => builds.get(id) === set.build);
    terminal.show(`measuring ${name} ...`);
    const streams = (await streamsPerCore(modelsDir, name)) ?? 'cannot be loaded';
    const languages = set.stated?.languages.slice(0, 4).join(', ') || '-';
    rows.push([name, set.kind, set.licence, languages, streams, ids.join(', ') || '-']);
    published.push(...(set.stated?.published ?? []).map((figure) => `${name}: ${figure}`));
  }
  terminal.show('');
  terminal.say(table(rows));
  const known = [['to fetch', 'size', 'licence', 'languages', '']];
  for (const entry of await readCatalogue(input.catalogue)) {
    const bytes = bytesOf(entry);
    const size = bytes === 0 ? '-' : inMegabytes(bytes);
    known.push([entry.name, size, entry.licence, entry.languages.join(', '), entry.about]);
    published.push(...entry.published.map((figure) => `${entry.name}: ${figure}`));
  }
  terminal.say(`\n${table(known)}`);
  terminal.say(`\nPublished error rates\n${[...new Set(published)].join('\n')}`);
}

async function use(input: {
  modelsDir: string;
  name: string;
  language: Language | undefined;
  terminal: Terminal;
}): Promise<void> {
  const ids = input.language === undefined ? MODEL_IDS : [MODEL_OF[input.language]];
  await useModelSet(input.modelsDir, input.name, ids);
  input.terminal.say(`${ids.join(' and ')} now use ${input.name}. Restart the service to load it.`);
}

interface EvaluateOptions {
  readonly folder: string;
  readonly language?: string;
  readonly out?: string;
  readonly training?: readonly string[];
  readonly lmText?: readonly string[];
}

function withRecordings(command: Command): Command {
  return command
    .requiredOption('--folder <dir>', 'recordings: NAME.wav with NAME.txt beside it')
    .addOption(
      new Option('--language <language>', 'language of the recordings').choices(['ki', 'luo']),
    )
    .option(
      '--training <paths...>',
      'what the models were trained on, to look for in the recordings',
    )
    .option('--out <dir>', 'output folder of the report (default: eval-report)');
}

/** Runs the evaluation in a child process that prints its report to this terminal. */
async function evaluate(options: EvaluateOptions, args: readonly string[]): Promise<number> {
  const rest = ['language', 'out'] as const;
  const given = rest.flatMap((name) =>
    options[name] === undefined ? [] : [`--${name}`, options[name]],
  );
  const { training = [], lmText = [] } = options;
  for (const path of training) given.push('--training', resolve(path));
  for (const path of lmText) given.push('--lm-text', resolve(path));
  const child = spawn(
    process.execPath,
    [join(ROOT, 'proof/eval/src/main.ts'), '--folder', resolve(options.folder), ...args, ...given],
    { stdio: 'inherit' },
  );
  const [status]: (number | null)[] = await once(child, 'close');
  return status ?? 2;
}
