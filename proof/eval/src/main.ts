import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startSherpaEngine } from '@svc-asr/engine';
import { ENDPOINTING } from '@svc-asr/protocol';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { codecFigures, measureCodecs, presentCodecs, type CodecResult } from './codecs.ts';
import { evaluateDecoding } from './decoding/decoding-report.ts';
import { evaluateFolder } from './folder.ts';
import { sweep } from './decoding/sweep.ts';
import { labelFolder } from './label.ts';
import { disturbed, measure, measureSilence, type Condition, type Result } from './measure.ts';
import { figuresOf, missedGoals, presentPage, presentTable, type Report } from './report/report.ts';
import { isFolder, readFixtures, readFolder, renderHeldOut, type Language } from './sets.ts';
import { evaluateNumbers } from './numbers/evaluate-numbers.ts';
import type { DetectorName } from './turns/detectors.ts';
import { evaluateTurns } from './turns/evaluate-turns.ts';
import type { Half } from './turns/voices.ts';

const ROOT = join(import.meta.dirname, '../../..');
const LIMIT_MAX = 200;

const program = new Command('npm run eval --')
  .description(
    'Streams speech through the real engine in frames of 100 ms and reports word and character error rates.',
  )
  .option(
    '--sentences <dir>',
    "sentence lists; the held-out ones are synthesised here (default: the project's fixtures)",
  )
  .option(
    '--folder <dir>',
    'your own recordings instead: NAME.wav (16 kHz, mono, 16 bit) and NAME.txt; an optional speakers.tsv has ' +
      'lines of NAME, a tab, SPEAKER. Writes an HTML report',
  )
  .addOption(
    new Option(
      '--language <language>',
      'language of the folder; not needed if file names start with ki- or luo-',
    ).choices(['ki', 'luo']),
  )
  .option('--compare <names>', 'with --folder: compare installed weights, as in A,B', '')
  .option(
    '--sweep <name>',
    'with --folder: tune installed weights: extra_lead_in_ms of a transducer, alpha, beta and beam of a CTC model',
  )
  .option(
    '--training <paths...>',
    'with --folder: what the models were trained on (folders, NeMo manifests, .tsv tables, text files); no sentence and no ' +
      'speaker of it may be in the folder',
    [],
  )
  .option(
    '--label <name>',
    'with --folder: write labels.json, a NeMo manifest with the text that installed weights recognise, for training',
  )
  .option('--lm-text <files...>', 'with --sweep: the text of the language models', [])
  .option(
    '--codecs',
    'the training voices (or the fixtures) through G.711, AMR-NB (needs libopencore-amrnb0) and Opus instead',
    false,
  )
  .option(
    '--numbers',
    'numbers as digits instead: round trips, false conversions in --sentences, and 200 numbers per language through the recogniser',
    false,
  )
  .option(
    '--turns',
    'where turns begin and end instead: human voices of Debian packages in 32 conditions, or with --folder your own, a ' +
      'folder of recordings per voice',
    false,
  )
  .addOption(
    new Option('--detector <name>', 'with --turns: the detector to judge')
      .choices(ENDPOINTING.detectors)
      .default(ENDPOINTING.detector),
  )
  .addOption(
    new Option('--half <half>', 'with --turns: the voices to design on, or those that judge')
      .choices(['design', 'held-out'])
      .default('held-out'),
  )
  .option('--seconds <n>', 'with --turns: seconds of each voice, 20 to 600', parseSeconds, 60)
  .option(
    '--decoding',
    'greedy decoding, beam search, language model and keyterms instead: --folder has seen/, unseen/ and names/',
    false,
  )
  .option('--lm-ki <file>', 'with --decoding: the language model of characters for Kikuyu')
  .option('--lm-luo <file>', 'with --decoding: the same for Dholuo')
  .option(
    '--other-lm-ki <file>',
    "with --decoding: one whose text has none of the recordings' sources",
  )
  .option('--other-lm-luo <file>', 'with --decoding: the same for Dholuo')
  .option(
    '--encoder <dir>',
    "with --decoding: a large CTC model, to compare the search's cost with its encoder's (default: a measured 300 M)",
  )
  .option('--models <dir>', 'manifests and weights (default: MODELS_DIR, else core/models/)')
  .option(
    '--out <dir>',
    'output folder for report.html, labels.json and the synthesised speech, below the current folder',
    'eval-report',
  )
  .option('--limit <number>', 'sentences per language and set', parseLimit, LIMIT_MAX)
  .option('--short', 'twelve sentences, for CI', false)
  .addHelpText(
    'after',
    `
  npm run eval -- --short
  npm run eval -- --folder recordings --language luo

Exit status: 0 all goals met, 1 a goal missed, 2 could not run.`,
  );

interface Options {
  readonly sentences?: string;
  readonly folder?: string;
  readonly language?: Language;
  readonly compare: string;
  readonly sweep?: string;
  readonly training: readonly string[];
  readonly label?: string;
  readonly lmText: readonly string[];
  readonly codecs: boolean;
  readonly numbers: boolean;
  readonly turns: boolean;
  readonly detector: DetectorName;
  readonly half: Half;
  readonly seconds: number;
  readonly decoding: boolean;
  readonly lmKi?: string;
  readonly lmLuo?: string;
  readonly otherLmKi?: string;
  readonly otherLmLuo?: string;
  readonly encoder?: string;
  readonly models?: string;
  readonly out: string;
  readonly limit: number;
  readonly short: boolean;
}
type Material = { readonly note: string; readonly conditions: Iterable<Condition> };

function parseSeconds(value: string): number {
  const seconds = Number(value);
  if (Number.isInteger(seconds) && seconds >= 20 && seconds <= 600) return seconds;
  throw new InvalidArgumentError('Use an integer from 20 to 600.');
}

function parseLimit(value: string): number {
  const limit = Number(value);
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new InvalidArgumentError(`Use an integer from 1 to ${LIMIT_MAX}.`);
}

async function findMaterial(options: Options): Promise<Material> {
  if (options.sentences === undefined) {
    const utterances = await readFixtures();
    const note =
      "SYNTHETIC SPEECH ONLY. No sentence lists were given: these are the project's own fixtures, " +
      'eight sentences. Use --sentences for a proper measurement.';
    return { note, conditions: both([{ name: 'fixtures', utterances }], disturbed(utterances)) };
  }
  return heldOut(
    resolve(options.sentences),
    resolve(options.out),
    options.short ? 12 : options.limit,
  );
}

async function heldOut(sentences: string, folder: string, limit: number): Promise<Material> {
  const out = join(folder, `speech-${limit}`);
  console.log('Synthesising the held-out sentences ...');
  await renderHeldOut({ sentences, out, limit });
  const clean = await readFolder(join(out, 'seen'));
  const conditions: Condition[] = [
    { name: 'seen voices', utterances: clean },
    { name: 'unseen voices', utterances: await readFolder(join(out, 'unseen')) },
  ];
  const festival = join(out, 'festival');
  if (await isFolder(festival)) {
    conditions.push({ name: 'festival', utterances: await readFolder(festival) });
  }
  const note = 'SYNTHETIC SPEECH ONLY. These figures say nothing about human speakers.';
  return { note, conditions: both(conditions, disturbed(clean)) };
}

function* both(first: Iterable<Condition>, then: Iterable<Condition>): Generator<Condition> {
  yield* first;
  yield* then;
}

async function evaluate(options: Options): Promise<number> {
  const { note, conditions } = await findMaterial(options);
  const engine = await startSherpaEngine({ modelsDir: findModels(options) });
  try {
    const build = engine.describe('svc-asr-kikuyu-v1').build;
    const results: Result[] = [];
    for (const condition of conditions) {
      console.log(`${condition.name}: ${condition.utterances.length} sentences ...`);
      results.push(...(await measure(engine, condition)));
    }
    const wordsWithoutSpeech = await measureSilence(engine);
    const report = { title: `Recognition of ${build}`, note, results, wordsWithoutSpeech };
    await publish(report, resolve(options.out));
    return missedGoals(report).length === 0 ? 0 : 1;
  } finally {
    await engine.close();
  }
}

/** Measures what codecs cost in accuracy. */
async function evaluateCodecs(options: Options): Promise<number> {
  const { conditions } = await findMaterial(options);
  const [clean] = conditions;
  if (clean === undefined) throw new Error('There is no speech to measure.');
  const engine = await startSherpaEngine({ modelsDir: findModels(options) });
  try {
    const measured: CodecResult[] = [];
    for await (const result of measureCodecs(engine, clean.utterances)) {
      console.log(`${result.codec} ...`);
      measured.push(result);
    }
    console.log(`\nSYNTHETIC SPEECH ONLY, ${clean.utterances.length} sentences.\n`);
    console.log(`${presentCodecs(measured)}\n`);
    console.log(
      JSON.stringify({ name: 'eval-codecs', passed: true, figures: codecFigures(measured) }),
    );
    return 0;
  } finally {
    await engine.close();
  }
}

function folder(options: Options, path: string): Promise<number> {
  const given = {
    folder: path,
    language: options.language,
    modelsDir: findModels(options),
    out: resolve(options.out),
    compare: options.compare.split(',').filter((name) => name !== ''),
    training: options.training,
  };
  if (options.label !== undefined) return labelFolder({ ...given, model: options.label });
  if (options.sweep === undefined) return evaluateFolder(given);
  return sweep({ ...given, model: options.sweep || 'demo', lmText: options.lmText });
}

/** Uses the weights of the tests, because the bundled model is no CTC model. */
async function decoding(options: Options): Promise<number> {
  const { folder: given, lmKi, lmLuo, otherLmKi, otherLmLuo, encoder, limit, short } = options;
  if (given === undefined || lmKi === undefined || lmLuo === undefined) {
    throw new Error(
      'Give --folder, --lm-ki and --lm-luo. docs/measurements.md says how they are made.',
    );
  }
  const { passed, figures } = await evaluateDecoding({
    folder: resolve(given),
    weights: join(ROOT, 'proof/testing/stand-in'),
    lms: { ki: resolve(lmKi), luo: resolve(lmLuo) },
    otherLms: { ki: otherLmKi, luo: otherLmLuo },
    encoder,
    limit: short ? 12 : limit,
  });
  console.log(JSON.stringify({ name: 'eval-decoding', passed, figures }));
  return passed ? 0 : 1;
}

function findModels(options: Options): string {
  return resolve(options.models ?? process.env['MODELS_DIR'] ?? join(ROOT, 'core/models'));
}

async function publish(report: Report, out: string): Promise<void> {
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'report.html'), presentPage(report));
  console.log(`\n${presentTable(report)}\n`);
  const missed = missedGoals(report);
  for (const goal of missed) console.log(`goal missed: ${goal}`);
  console.log(`${join(out, 'report.html')} shows the results with plots.`);
  const passed = missed.length === 0;
  console.log(JSON.stringify({ name: 'eval', passed, figures: figuresOf(report) }));
}

async function main(): Promise<number> {
  const options = program.exitOverride().parse().opts<Options>();
  if (options.decoding) return decoding(options);
  if (options.turns) return evaluateTurns(options);
  if (options.numbers) return evaluateNumbers({ ...options, modelsDir: findModels(options) });
  if (options.codecs) return evaluateCodecs(options);
  return options.folder === undefined ? evaluate(options) : folder(options, options.folder);
}

process.exitCode = await main().catch((error: unknown) => {
  // Commander has printed the help or the error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  console.error(error instanceof Error ? error.message : error);
  return 2;
});
