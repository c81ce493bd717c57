import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BeamText, CtcModel, NgramModel, scorersOf, type LmUnit } from '@svc-asr/engine';
import type { ModelSet, SetDecoding } from '@svc-asr/models/model-set.ts';
import { errorRate, improvement, type Count } from '../bootstrap.ts';
import { countErrors, textOf } from './decoding-set.ts';
import { verdict, withRange } from '../report/folder-page.ts';
import { readAndCheck, type FolderOptions } from '../folder.ts';
import type { Recording } from '../recordings.ts';
import { words } from '../scoring.ts';
import { LANGUAGES, MODEL_OF, type Language } from '../sets.ts';
import { readTrainingMaterial } from '../training-material.ts';

export interface SweepOptions extends FolderOptions {
  /** The installed weights to tune. */
  readonly model: string;
  /** The text of their language models, if it is at hand. */
  readonly lmText: readonly string[];
}

/** What is tuned. */
interface Setting {
  readonly alpha: number;
  readonly beta: number;
  readonly beam: number;
}

interface Tried {
  readonly setting: Setting;
  /** In the order of the recordings. */
  readonly counts: readonly Count[];
}

const ALPHAS = [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2];
const BETAS = [-0.5, 0, 0.5, 1, 1.5, 2];
const BEAMS = [8, 16, 32, 64];
const DEFAULTS = { alpha: 1, beta: 0.5, beam: 16, prune: 10, prune_labels: 6 };
/**
 * Language models without pruning have all n-grams of every sentence of their text. Of other sentences, character 6-grams of
 * 4,000 and 43,000 sentences have all in 10 and 41 %, word 3-grams in none.
 */
const CONTAINED_MAX = 0.7;
/** Shorter sentences are a part of others by chance. */
const PART_WORDS_MIN = 4;

/** Finds alpha, beta and beam for each language model of a CTC model. Returns the exit status. */
export async function sweepDecoding(options: SweepOptions, set: ModelSet): Promise<number> {
  const { modelsDir, model } = options;
  const { recordings } = await readAndCheck(options);
  const inside = (file: string): string => join(modelsDir, model, file);
  const [weights = '', tokens = ''] = [set.files['model'], set.files['tokens']];
  const ctc = await CtcModel.load({ model: inside(weights), tokens: inside(tokens) });
  const figures: Record<string, number> = {};
  let swept = 0;
  for (const language of LANGUAGES) {
    const own = recordings.filter((one) => one.language === language);
    const decoding = set.decoding?.[MODEL_OF[language]];
    if (own.length === 0 || decoding?.lm === undefined) continue;
    const lm = await NgramModel.load(inside(decoding.lm));
    const unit = decoding.unit ?? 'character';
    await refuseKnownText({ own, lm, unit, lmText: options.lmText });
    console.log(`${language}: ${own.length} recordings ...`);
    const { unigrams: list } = decoding;
    const unigrams = list === undefined ? undefined : await readFile(inside(list), 'utf8');
    const found = await tune({ own, ctc, lm, unigrams, decoding });
    report(found, { model, language, figures });
    swept += 1;
  }
  if (swept === 0) {
    throw new Error(
      `${model} has no language model for the language of these recordings. Add one with svc-models import lm.`,
    );
  }
  console.log(JSON.stringify({ name: 'eval', passed: true, figures }));
  return 0;
}

/** Tuning on text that the language model knows picks a weight that is far too high for any other text. */
async function refuseKnownText(input: {
  readonly own: readonly Recording[];
  readonly lm: NgramModel;
  readonly unit: LmUnit;
  readonly lmText: readonly string[];
}): Promise<void> {
  const { own, lm, unit } = input;
  const { sentences } = await readTrainingMaterial(input.lmText);
  const lines = `\n ${[...sentences].join(' \n ')} \n`;
  const known = own.filter(({ spoken }) => {
    const isPart = words(spoken).length >= PART_WORDS_MIN;
    return lines.includes(isPart ? ` ${spoken} ` : `\n ${spoken} \n`);
  });
  if (known.length > 0) {
    throw new Error(
      `${known.length} of ${own.length} sentences are in the text of the language model, the first in ${known[0]?.name}. ` +
        'Tune on others: speech.ngrams.lm --exclude leaves sentences out.',
    );
  }
  const contained = own.filter(({ spoken }) => lm.hasAllNgrams(unitsOf(spoken, unit))).length;
  if (contained <= CONTAINED_MAX * own.length) return;
  throw new Error(
    `The language model has all n-grams of ${contained} of ${own.length} sentences, so its text has these sentences. ` +
      'Tune on others: speech.ngrams.lm --exclude leaves sentences out.',
  );
}

function unitsOf(spoken: string, unit: LmUnit): string[] {
  return unit === 'word' ? words(spoken) : Array.from(spoken.replaceAll(' ', '▁'));
}

interface Tuning {
  readonly own: readonly Recording[];
  readonly ctc: CtcModel;
  readonly lm: NgramModel;
  /** The word list of the language model, one a line. */
  readonly unigrams: string | undefined;
  readonly decoding: SetDecoding;
}

interface Found {
  readonly before: Tried;
  readonly best: Tried;
  /** Errors with a setting that was chosen on the other half of the speakers. */
  readonly elsewhere: readonly Count[];
}

async function tune(tuning: Tuning): Promise<Found> {
  const { alpha, beta, beam } = { ...DEFAULTS, ...tuning.decoding };
  const now = { alpha, beta, beam };
  const grid = ALPHAS.flatMap((a) => BETAS.map((b) => ({ alpha: a, beta: b, beam })));
  const first = await tryAll(tuning, [now, ...grid]);
  const weights = bestOf(first).setting;
  const wider = BEAMS.filter((width) => width !== beam).map((width) => ({
    ...weights,
    beam: width,
  }));
  const tried = [...first, ...(await tryAll(tuning, wider))];
  const [before = bestOf(tried)] = tried;
  return { before, best: bestOf(tried), elsewhere: crossValidated(tried) };
}

/** Encodes each recording once and searches its text with every setting. */
async function tryAll(tuning: Tuning, settings: readonly Setting[]): Promise<Tried[]> {
  const { own, ctc, lm, unigrams, decoding } = tuning;
  const { unit = 'character', unk_score_offset: unknownOffset = -10 } = decoding;
  const { prune, prune_labels: pruneLabels } = { ...DEFAULTS, ...decoding };
  const scorers = scorersOf(lm, unit, unigrams);
  const tries = settings.map((setting) => ({
    setting,
    counts: new Array<Count>(),
    scorer: scorers({ ...setting, unknownOffset }),
  }));
  for (const { wave, spoken, speaker } of own) {
    const logits = await ctc.run(wave);
    for (const { setting, counts, scorer } of tries) {
      const search = { width: setting.beam, pruneHypotheses: prune, pruneLabels };
      const text = new BeamText(ctc.tokens, { scorer, settings: search });
      counts.push(countErrors(spoken, textOf(text, logits), speaker));
    }
  }
  return tries;
}

/** The fewest errors. Of equals, the narrower beam, then the setting that comes first. */
export function bestOf(
  tried: readonly Tried[],
  isCounted: (count: Count, at: number) => boolean = () => true,
): Tried {
  const ranked = tried
    .map((one) => ({
      one,
      errors: one.counts.filter(isCounted).reduce((sum, { errors }) => sum + errors, 0),
    }))
    .toSorted((a, b) => a.errors - b.errors || a.one.setting.beam - b.one.setting.beam);
  const [first] = ranked;
  if (first === undefined) throw new RangeError('Nothing was tried.');
  return first.one;
}

/** Chooses on each half of the speakers and counts on the other, because the best of many settings looks too good. */
export function crossValidated(tried: readonly Tried[]): Count[] {
  const counts = tried[0]?.counts ?? [];
  const speakers = [...new Set(counts.map(({ speaker }) => speaker))].toSorted();
  const halfOf = counts.map(({ speaker }, at) =>
    speakers.length > 1 ? speakers.indexOf(speaker) % 2 : at % 2,
  );
  const chosen = [0, 1].map((half) => bestOf(tried, (_, at) => halfOf[at] !== half));
  return counts.map((count, at) => chosen[halfOf[at] ?? 0]?.counts[at] ?? count);
}

function report(
  { before, best, elsewhere }: Found,
  input: { model: string; language: Language; figures: Record<string, number> },
): void {
  const { model, language, figures } = input;
  const { alpha, beta, beam } = best.setting;
  const gain = improvement(before.counts, elsewhere);
  const advice =
    gain.rate > 0
      ? `Set these values for ${MODEL_OF[language]} in ${model}/model.json and run svc-models use ${model}.`
      : 'Keep what you have: settings that were chosen on half of the speakers are no better for the others.';
  console.log(
    `  now   ${present(before.setting)}: WER ${withRange(errorRate(before.counts))}\n` +
      `  best  ${present(best.setting)}: WER ${withRange(errorRate(best.counts))}\n` +
      `  chosen on half of the speakers, measured on the other: WER ${withRange(errorRate(elsewhere))}, ` +
      `${verdict(gain)}\n\n` +
      `Best: ${JSON.stringify({ alpha, beta, beam })} for ${MODEL_OF[language]}.\n${advice}\n`,
  );
  figures[`alpha_${language}`] = alpha;
  figures[`beta_${language}`] = beta;
  figures[`beam_${language}`] = beam;
  figures[`wer_${language}_now`] = errorRate(before.counts).rate;
  figures[`wer_${language}_best`] = errorRate(best.counts).rate;
  figures[`wer_${language}_other_speakers`] = errorRate(elsewhere).rate;
}

function present({ alpha, beta, beam }: Setting): string {
  return `alpha ${alpha}, beta ${beta}, beam ${beam}`;
}
