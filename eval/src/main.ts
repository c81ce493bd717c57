import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startSherpaEngine } from '@svc-asr/engine';
import { disturbed, measure, measureSilence, type Condition, type Result } from './measure.ts';
import { figuresOf, missedGoals, presentPage, presentTable, type Report } from './report.ts';
import { isFolder, readFixtures, readFolder, renderHeldOut, type Language } from './sets.ts';

const ROOT = join(import.meta.dirname, '../..');
const HELP = `npm run eval -- [options]

Streams speech through the real engine in frames of 100 ms and reports word and character error rates.

  --sentences DIR   lists of sentences; those held out from training are spoken by the synthesisers of
                    this machine (default: ../shared/speech where it is there, else the project's fixtures)
  --folder DIR      your own recordings instead: NAME.wav (16 kHz, mono, 16 bit) with NAME.txt beside it
  --language ki|luo what is spoken in the folder; not needed if the names begin with ki- or luo-
  --models DIR      manifests and weights (default: MODELS_DIR, else models/)
  --out DIR         where report.html and the rendered speech go (default: eval-report)
  --limit N         sentences of each language and set (default 200)
  --short           twelve sentences, for CI

  npm run eval -- --short
  npm run eval -- --folder recordings --language luo

Exit status: 0 goals reached, 1 a goal missed, 2 it could not run.`;

const OPTIONS = {
  sentences: { type: 'string' },
  folder: { type: 'string' },
  language: { type: 'string' },
  models: { type: 'string' },
  out: { type: 'string', default: join(ROOT, 'eval-report') },
  limit: { type: 'string', default: '200' },
  short: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

type Options = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];
type Material = { readonly note: string; readonly conditions: Iterable<Condition> };

function parseLanguage(value: string | undefined): Language | undefined {
  if (value === undefined || value === 'ki' || value === 'luo') return value;
  throw new Error('--language must be ki or luo.');
}

function parseLimit(options: Options): number {
  const limit = options.short ? 12 : Number(options.limit);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 200) return limit;
  throw new Error('--limit must be a whole number from 1 to 200.');
}

async function findSentences(options: Options): Promise<string | null> {
  if (options.sentences !== undefined) return resolve(options.sentences);
  const beside = resolve(ROOT, '../shared/speech');
  return (await isFolder(beside)) ? beside : null;
}

async function findMaterial(options: Options): Promise<Material> {
  if (options.folder !== undefined) {
    const utterances = await readFolder(options.folder, parseLanguage(options.language));
    const note = `Recordings of ${resolve(options.folder)}.`;
    return { note, conditions: [{ name: 'your folder', utterances }] };
  }
  const sentences = await findSentences(options);
  if (sentences === null) {
    const utterances = await readFixtures();
    const note =
      "SYNTHETIC SPEECH ONLY. No sentence lists were given: these are the project's own fixtures, " +
      'eight sentences. --sentences measures properly.';
    return { note, conditions: both([{ name: 'fixtures', utterances }], disturbed(utterances)) };
  }
  return heldOut(sentences, resolve(options.out), parseLimit(options));
}

async function heldOut(sentences: string, folder: string, limit: number): Promise<Material> {
  const out = join(folder, `speech-${limit}`);
  console.log('Speaking the held-out sentences ...');
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
  const modelsDir = options.models ?? process.env['MODELS_DIR'] ?? join(ROOT, 'models');
  const engine = await startSherpaEngine({ modelsDir: resolve(modelsDir) });
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

async function publish(report: Report, out: string): Promise<void> {
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'report.html'), presentPage(report));
  console.log(`\n${presentTable(report)}\n`);
  const missed = missedGoals(report);
  for (const goal of missed) console.log(`goal missed: ${goal}`);
  console.log(`${join(out, 'report.html')} shows it with plots.`);
  const passed = missed.length === 0;
  console.log(JSON.stringify({ name: 'eval', passed, figures: figuresOf(report) }));
}

async function main(): Promise<number> {
  const { values: options } = parseArgs({ options: OPTIONS });
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  return evaluate(options);
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return 2;
});
