import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startSherpaEngine } from '@svc-asr/engine';
import { stageModelSet } from '@svc-asr/models/model-set.ts';
import { judge, type Recognised, type Judgement } from './judgement.ts';
import { presentFolderPage, presentJudgements } from './report/folder-page.ts';
import { mapConcurrently } from './concurrency.ts';
import { recogniseWords } from './recognise.ts';
import { readRecordings, type Recording } from './recordings.ts';
import {
  checkRecordings,
  figuresOfFindings,
  presentFindings,
  type Finding,
} from './recordings-check.ts';
import { LANGUAGES, MODEL_OF, type Language } from './sets.ts';

export interface FolderOptions {
  readonly folder: string;
  readonly language: Language | undefined;
  readonly modelsDir: string;
  readonly out: string;
  /** Installed weights to compare. If empty, the current manifests are used. */
  readonly compare: readonly string[];
  /** What the models were trained on: its sentences and speakers must not be in the folder. */
  readonly training: readonly string[];
}

const STREAMS_AT_ONCE = 8;
const LEAD_INS_MS = [0, 40, 80, 120, 160, 200, 240, 280];

/** Measures recordings with one or several models and writes a report. Returns the exit status. */
export async function evaluateFolder(options: FolderOptions): Promise<number> {
  const { recordings, findings } = await readAndCheck(options);
  const recognised = new Map<string, readonly Recognised[]>();
  for (const model of options.compare) {
    console.log(`${model}: ${recordings.length} recordings ...`);
    recognised.set(model, await recogniseWith(options.modelsDir, { model, recordings }));
  }
  if (options.compare.length === 0) {
    console.log(`${recordings.length} recordings ...`);
    recognised.set('the models in use', await recogniseAll(options.modelsDir, recordings));
  }
  const judgements = judgeAll(recognised);
  await mkdir(options.out, { recursive: true });
  const page = join(options.out, 'report.html');
  const folder = resolve(options.folder);
  await writeFile(
    page,
    presentFolderPage({
      title: 'How well recordings are understood',
      folder,
      judgements,
      findings,
    }),
  );
  console.log(`\n${presentJudgements(judgements)}\n\nSee ${page} for details.`);
  const passed = findings.every(({ isSerious }) => !isSerious);
  if (!passed) console.log('These figures are wrong until the problems above are mended.');
  const figures = { ...figuresOfFolder(judgements), ...figuresOfFindings(findings) };
  console.log(JSON.stringify({ name: 'eval', passed, figures }));
  return passed ? 0 : 1;
}

/** Reads the recordings and prints what is wrong with them. */
export async function readAndCheck(
  options: Pick<FolderOptions, 'folder' | 'language' | 'training'>,
): Promise<{ recordings: Recording[]; findings: Finding[] }> {
  const { folder, language, training } = options;
  const recordings = await readRecordings(folder, language);
  const findings = await checkRecordings({ folder, recordings, training });
  if (findings.length > 0) console.log(`${presentFindings(findings)}\n`);
  return { recordings, findings };
}

/** Prints the word error rate for each lead-in. Returns the exit status. */
export async function sweepLeadIn(options: FolderOptions & { model: string }): Promise<number> {
  const { recordings } = await readAndCheck(options);
  const results: { leadInMs: number; judgements: readonly Judgement[]; errors: number }[] = [];
  for (const leadInMs of LEAD_INS_MS) {
    const changes = { extra_lead_in_ms: leadInMs };
    const { model } = options;
    const all = await recogniseWith(options.modelsDir, { model, recordings, changes });
    const judgements = judgeAll(new Map([[model, all]]));
    const errors = judgements.reduce((sum, one) => sum + (one.wer.rate * one.words) / 100, 0);
    results.push({ leadInMs, judgements, errors });
    const rates = judgements.map(({ language, wer }) => `${language} ${wer.rate.toFixed(1)} %`);
    console.log(`extra_lead_in_ms ${String(leadInMs).padStart(3)}: ${rates.join(', ')}`);
  }
  const best = results.toSorted((a, b) => a.errors - b.errors)[0];
  const chosen = best?.leadInMs ?? 0;
  console.log(`\nBest: "extra_lead_in_ms": ${chosen} in ${options.model}/model.json.`);
  console.log(`Set it there and run svc-models use ${options.model}.`);
  const figures = { best_extra_lead_in_ms: chosen, ...figuresOfFolder(best?.judgements ?? []) };
  console.log(JSON.stringify({ name: 'eval', passed: true, figures }));
  return 0;
}

async function recogniseWith(
  modelsDir: string,
  input: {
    readonly model: string;
    readonly recordings: readonly Recording[];
    readonly changes?: { readonly extra_lead_in_ms: number };
  },
): Promise<Recognised[]> {
  const staged = await stageModelSet(modelsDir, input.model, input.changes);
  try {
    return await recogniseAll(staged, input.recordings);
  } finally {
    await rm(staged, { recursive: true });
  }
}

async function recogniseAll(
  modelsDir: string,
  recordings: readonly Recording[],
): Promise<Recognised[]> {
  const engine = await startSherpaEngine({ modelsDir, slotsPerChild: STREAMS_AT_ONCE });
  try {
    return await mapConcurrently(recordings, STREAMS_AT_ONCE, async (recording) => {
      const { wave, language } = recording;
      const { text, words } = await recogniseWords(engine, { model: MODEL_OF[language], wave });
      return { recording, text, words };
    });
  } finally {
    await engine.close();
  }
}

function judgeAll(recognised: ReadonlyMap<string, readonly Recognised[]>): Judgement[] {
  const [first] = recognised.values();
  return LANGUAGES.flatMap((language) =>
    [...recognised].flatMap(([model, all]) => {
      const ofLanguage = (one: Recognised): boolean => one.recording.language === language;
      const mine = all.filter(ofLanguage);
      if (mine.length === 0) return [];
      const before = all === first ? null : (first?.filter(ofLanguage) ?? null);
      return [judge({ model, language, recognised: mine, first: before })];
    }),
  );
}

/** Figures of the first model have plain names. Those of other models include the model's name. */
export function figuresOfFolder(judgements: readonly Judgement[]): Record<string, number> {
  const figures: Record<string, number> = {};
  const [first] = judgements;
  for (const one of judgements) {
    const suffix =
      one.model === first?.model ? '' : `_${one.model.replaceAll(/[^a-z0-9]+/gi, '_')}`;
    const name = `${one.language}_folder${suffix}`;
    figures[`wer_${name}`] = one.wer.rate;
    figures[`wer_${name}_low`] = one.wer.low;
    figures[`wer_${name}_high`] = one.wer.high;
    figures[`cer_${name}`] = one.cer.rate;
    figures[`wer_${name}_without_tilde`] = one.werWithoutTilde.rate;
    if (one.confidence === null) continue;
    figures[`confidence_auc_${name}`] = one.confidence.auc;
    figures[`confidence_ece_${name}`] = one.confidence.ece;
  }
  return figures;
}
