import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CtcLoader, KeytermTree, type CtcRecogniser, type Logits } from '@svc-asr/engine';
import { AUDIO, KEYTERMS, readKeyterms } from '@svc-asr/protocol';
import { errorRate, type Count, type Interval } from './bootstrap.ts';
import { overTelephone, withWhiteNoise } from './conditions.ts';
import { countErrors, searchCost } from './decoding-set.ts';
import { words } from './scoring.ts';
import { isFolder, readFolder, type Language, type Utterance } from './sets.ts';

export interface DecodingOptions {
  /** Recordings of `speech.held_out`: folders `seen` and `unseen`, and optionally `names` (see docs/engine.md). */
  readonly folder: string;
  /** A folder with `model.onnx` and `tokens.txt`. */
  readonly weights: string;
  readonly lms: Readonly<Record<Language, string>>;
  /** Recordings per language and condition. */
  readonly limit: number;
}

export interface DecodingReport {
  readonly passed: boolean;
  readonly figures: Readonly<Record<string, number>>;
}

const SEARCH = { width: 16, pruneHypotheses: 10, pruneLabels: 6 };
const WEIGHTS = { unit: 'character', alpha: 1, beta: 0.5 } as const;
/** What an encoder of 300 M parameters takes per audio second of a stream, in ms of processor time (docs/engine.md). */
const ENCODER_300M_MS = 570;
const COST_RECORDINGS = 10;
const LANGUAGES = ['ki', 'luo'] as const;

interface Recognisers {
  readonly greedy: CtcRecogniser;
  readonly beam: CtcRecogniser;
  readonly lm: CtcRecogniser;
}

/** Compares greedy decoding, beam search, language model and keyterms. Prints as it goes on. */
export async function evaluateDecoding(options: DecodingOptions): Promise<DecodingReport> {
  const figures: Record<string, number> = {};
  const recall = { names: 0, before: 0, after: 0 };
  const insertions = { count: 0, hours: 0 };
  for (const language of LANGUAGES) {
    const own = await load(options, language);
    const costs = await compareConditions({ options, language, own, figures });
    figures['beam_cost_ratio'] = Math.max(figures['beam_cost_ratio'] ?? 0, costs);
    await measureKeyterms({ options, language, own, recall, insertions });
  }
  const percent = (part: number): number => round((100 * part) / Math.max(1, recall.names));
  if (recall.names > 0) {
    figures['keyterm_recall_before'] = percent(recall.before);
    figures['keyterm_recall_after'] = percent(recall.after);
    figures['keyterm_false_per_hour'] = round(insertions.count / Math.max(1e-9, insertions.hours));
  }
  return { passed: isPassed(figures), figures };
}

function isPassed(figures: Readonly<Record<string, number>>): boolean {
  const halved = LANGUAGES.every(
    (language) =>
      (figures[`wer_${language}_lm`] ?? 100) <= (figures[`wer_${language}_greedy`] ?? 0) / 2,
  );
  const { keyterm_recall_before: before, keyterm_recall_after: after } = figures;
  if (before === undefined || after === undefined) return halved;
  const found = after - before >= (100 - before) / 2;
  return halved && found && (figures['keyterm_false_per_hour'] ?? 0) <= 2;
}

async function load(options: DecodingOptions, language: Language): Promise<Recognisers> {
  const { weights, lms } = options;
  const files = { model: join(weights, 'model.onnx'), tokens: join(weights, 'tokens.txt') };
  const loader = new CtcLoader();
  const lm = { ...WEIGHTS, path: lms[language] };
  return {
    greedy: await loader.load({ files }),
    beam: await loader.load({ files, decoding: SEARCH }),
    lm: await loader.load({ files, decoding: { ...SEARCH, lm } }),
  };
}

/** Returns the cost of the search in a stream, as a share of a large encoder's. */
async function compareConditions(input: {
  readonly options: DecodingOptions;
  readonly language: Language;
  readonly own: Recognisers;
  readonly figures: Record<string, number>;
}): Promise<number> {
  const { options, language, own, figures } = input;
  const seen = await read(options, 'seen', language);
  const disturbed = (disturb: (wave: Float32Array, seed: number) => Float32Array): Utterance[] =>
    seen.map((one, at) => ({ ...one, wave: disturb(one.wave, at) }));
  const conditions = {
    seen,
    unseen: await read(options, 'unseen', language),
    telephone: disturbed(overTelephone),
    noise: disturbed(withWhiteNoise),
  };
  for (const [condition, utterances] of Object.entries(conditions)) {
    if (utterances.length === 0) continue;
    const shown: string[] = [];
    for (const [name, found] of await wordErrors(own, utterances)) {
      shown.push(`${name} ${found.rate} (${found.low} to ${found.high})`);
      const suffix = condition === 'seen' ? name : `${condition}_${name}`;
      figures[`wer_${language}_${suffix}`] = found.rate;
    }
    console.log(
      `${language} ${condition}, ${utterances.length} sentences: WER ${shown.join(', ')}`,
    );
  }
  const { searchMs } = await searchCost(own.lm, seen.slice(0, COST_RECORDINGS));
  // A stream searches each frame twice.
  return round((2 * searchMs) / ENCODER_300M_MS, 4);
}

async function wordErrors(
  own: Recognisers,
  utterances: readonly Utterance[],
): Promise<ReadonlyMap<string, Interval>> {
  const counts = new Map<string, Count[]>(Object.keys(own).map((name) => [name, []]));
  for (const { wave, spoken, name: file } of utterances) {
    const logits = await own.lm.model.run(wave);
    for (const [name, recogniser] of Object.entries(own)) {
      counts.get(name)?.push(countErrors(spoken, textOf(recogniser.newText(), logits), file));
    }
  }
  return new Map([...counts].map(([name, list]) => [name, errorRate(list)]));
}

/** The text of a whole recording: one encoding serves every way of decoding it. */
export function textOf(text: ReturnType<CtcRecogniser['newText']>, logits: Logits): string {
  text.add(logits, { firstFrame: 0, keepTo: 0 });
  text.end();
  return text.transcript(Infinity).text;
}

/** Recall of the names in `names/`, and how often their list puts a name where nobody said it. */
async function measureKeyterms(input: {
  readonly options: DecodingOptions;
  readonly language: Language;
  readonly own: Recognisers;
  readonly recall: { names: number; before: number; after: number };
  readonly insertions: { count: number; hours: number };
}): Promise<void> {
  const { options, language, own, recall, insertions } = input;
  const spoken = await read(options, 'names', language);
  if (spoken.length === 0) return;
  const list = await readList(options.folder, language);
  const terms = new Set(list);
  const keyterms = new KeytermTree(list);
  const before = { names: 0, found: 0 };
  const after = { names: 0, found: 0 };
  for (const { wave, spoken: text } of spoken) {
    const logits = await own.lm.model.run(wave);
    countNames(before, { text, heard: textOf(own.lm.newText(), logits), terms });
    countNames(after, { text, heard: textOf(own.lm.newText(keyterms), logits), terms });
  }
  recall.names += before.names;
  recall.before += before.found;
  recall.after += after.found;
  let count = 0;
  let seconds = 0;
  const others = [
    ...(await read(options, 'seen', language)),
    ...(await read(options, 'unseen', language)),
  ];
  for (const { wave, spoken: text } of others) {
    const heard = textOf(own.lm.newText(keyterms), await own.lm.model.run(wave));
    count += inserted(text, heard, terms);
    seconds += wave.length / AUDIO.sampleRateHz;
  }
  insertions.count += count;
  insertions.hours += seconds / 3600;
  const plain = await searchCost(own.lm, spoken.slice(0, COST_RECORDINGS));
  const boosted = await searchCost(own.lm, spoken.slice(0, COST_RECORDINGS), keyterms);
  console.log(
    `${language} search: ${plain.searchMs.toFixed(2)} ms per audio second, ${boosted.searchMs.toFixed(2)} with keyterms`,
  );
  console.log(
    `${language} keyterms, ${list.length} terms: ${before.found} of ${before.names} names found without them, ` +
      `${after.found} with; ${count} false in ${Math.round(seconds / 60)} minutes of other speech`,
  );
}

/** The names of this language, then others up to the limit. */
async function readList(folder: string, language: Language): Promise<readonly string[]> {
  const order = LANGUAGES.toSorted(
    (one, other) => Number(other === language) - Number(one === language),
  );
  const lists = await Promise.all(
    order.map((one) => readFile(join(folder, `names/keyterms-${one}`), 'utf8')),
  );
  const names = lists.flatMap((list) => list.split('\n').filter((name) => name !== ''));
  return readKeyterms(names.slice(0, KEYTERMS.termsMax), true).taken;
}

function countNames(
  totals: { names: number; found: number },
  said: { readonly text: string; readonly heard: string; readonly terms: ReadonlySet<string> },
): void {
  const heard = new Set(words(said.heard));
  for (const word of words(said.text)) {
    if (!said.terms.has(word)) continue;
    totals.names += 1;
    if (heard.has(word)) totals.found += 1;
  }
}

function inserted(text: string, heard: string, terms: ReadonlySet<string>): number {
  const said = new Set(words(text));
  return words(heard).filter((word) => terms.has(word) && !said.has(word)).length;
}

async function read(
  { folder, limit }: DecodingOptions,
  set: string,
  language: Language,
): Promise<readonly Utterance[]> {
  const path = join(folder, set);
  if (!(await isFolder(path))) return [];
  return (await readFolder(path)).filter((one) => one.language === language).slice(0, limit);
}

function round(value: number, digits = 1): number {
  return Number(value.toFixed(digits));
}
