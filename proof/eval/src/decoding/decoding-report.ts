import { CtcLoader, type CtcRecogniser } from '@svc-asr/engine';
import { errorRate, type Count, type Interval } from '../bootstrap.ts';
import { overTelephone, withWhiteNoise } from '../conditions.ts';
import { measureKeyterms } from './decoding-keyterms.ts';
import { countErrors, filesOf, readSet, searchCost, streamCost, textOf } from './decoding-set.ts';
import { LANGUAGES, type Language, type Utterance } from '../sets.ts';

export interface DecodingOptions {
  /** Recordings of `speech.synthesis.held_out`: folders `seen` and `unseen`, and optionally those of `speech.synthesis.names`. */
  readonly folder: string;
  /** A folder with `model.onnx` and `tokens.txt`. */
  readonly weights: string;
  readonly lms: Readonly<Record<Language, string>>;
  /** Language models whose text has none of the recordings' sources. */
  readonly otherLms: Readonly<Record<Language, string | undefined>>;
  /** A large CTC model with whose encoder the cost of the search is compared, measured in this run. */
  readonly encoder: string | undefined;
  /** Recordings per language and condition. */
  readonly limit: number;
}

export interface DecodingReport {
  readonly passed: boolean;
  readonly figures: Readonly<Record<string, number>>;
}

const SEARCH = { width: 16, pruneHypotheses: 10, pruneLabels: 6 };
const WEIGHTS = { unit: 'character', alpha: 1, beta: 0.5 } as const;
/**
 * What an encoder of 300 M parameters took per audio second of a stream on a Xeon at 2.5 GHz with AVX-512 VNNI and without
 * AMX, in ms of processor time (docs/measurements.md). With AMX it was 570.
 */
const ENCODER_300M_MS = 880;
const ENCODER_RECORDINGS = 3;
const COST_RECORDINGS = 10;
const WIDTHS = [4, 8, 16, 32, 100] as const;
const WIDTH_RECORDINGS = 40;

interface Recognisers {
  readonly greedy: CtcRecogniser;
  readonly beam: CtcRecogniser;
  readonly lm: CtcRecogniser;
  readonly other_lm?: CtcRecogniser;
}

/** Compares greedy decoding, beam search, language model and keyterms. Prints as it goes on. */
export async function evaluateDecoding(options: DecodingOptions): Promise<DecodingReport> {
  const figures: Record<string, number> = {};
  const own = { ki: await load(options, 'ki'), luo: await load(options, 'luo') };
  const encoderMs = await measureEncoder(options);
  figures['encoder_ms'] = round(encoderMs);
  for (const language of LANGUAGES) {
    const searchMs = await compareConditions({ options, language, own: own[language], figures });
    const share = round(shareInStream(searchMs, encoderMs), 4);
    figures['beam_cost_ratio'] = Math.max(figures['beam_cost_ratio'] ?? 0, share);
    await compareWidths({ options, language, encoderMs, figures });
  }
  const recognisers = { ki: own.ki.lm, luo: own.luo.lm };
  Object.assign(figures, await measureKeyterms({ ...options, recognisers }));
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
  const { weights, lms, otherLms } = options;
  const files = filesOf(weights);
  const loader = new CtcLoader();
  const lm = { ...WEIGHTS, path: lms[language] };
  const other = otherLms[language];
  const otherLm = { ...WEIGHTS, path: other ?? '' };
  return {
    greedy: await loader.load({ files }),
    beam: await loader.load({ files, decoding: SEARCH }),
    lm: await loader.load({ files, decoding: { ...SEARCH, lm } }),
    ...(other === undefined
      ? {}
      : { other_lm: await loader.load({ files, decoding: { ...SEARCH, lm: otherLm } }) }),
  };
}

/** Processor time per audio second of a stream. Both costs depend on the processor, so compare them on the same one. */
async function measureEncoder(options: DecodingOptions): Promise<number> {
  const { encoder } = options;
  if (encoder === undefined) return ENCODER_300M_MS;
  const recogniser = await new CtcLoader().load({ files: filesOf(encoder) });
  const own = (await readSet(options, 'seen', LANGUAGES[0])).slice(0, ENCODER_RECORDINGS);
  const encoderMs = await streamCost(recogniser, own);
  console.log(`encoder of ${encoder}: ${encoderMs.toFixed(0)} ms per audio second of a stream`);
  return encoderMs;
}

/** A stream searches each frame twice. */
function shareInStream(searchMs: number, encoderMs: number): number {
  return (2 * searchMs) / encoderMs;
}

/** Returns the cost of the search with the language model, in ms per audio second of a recording. */
async function compareConditions(input: {
  readonly options: DecodingOptions;
  readonly language: Language;
  readonly own: Recognisers;
  readonly figures: Record<string, number>;
}): Promise<number> {
  const { options, language, own, figures } = input;
  const seen = await readSet(options, 'seen', language);
  const disturbed = (disturb: (wave: Float32Array, seed: number) => Float32Array): Utterance[] =>
    seen.map((one, at) => ({ ...one, wave: disturb(one.wave, at) }));
  const conditions = {
    seen,
    unseen: await readSet(options, 'unseen', language),
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
  return searchMs;
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

/** What each width costs and gains with the language model. */
async function compareWidths(input: {
  readonly options: DecodingOptions;
  readonly language: Language;
  readonly encoderMs: number;
  readonly figures: Record<string, number>;
}): Promise<void> {
  const { options, language, encoderMs, figures } = input;
  const { weights, lms } = options;
  const files = filesOf(weights);
  const loader = new CtcLoader();
  const utterances = (await readSet(options, 'seen', language)).slice(0, WIDTH_RECORDINGS);
  for (const width of WIDTHS) {
    const lm = { ...WEIGHTS, path: lms[language] };
    const recogniser = await loader.load({ files, decoding: { ...SEARCH, width, lm } });
    const counts: Count[] = [];
    for (const { wave, spoken, name } of utterances) {
      const logits = await recogniser.model.run(wave);
      counts.push(countErrors(spoken, textOf(recogniser.newText(), logits), name));
    }
    const { rate } = errorRate(counts);
    const { searchMs } = await searchCost(recogniser, utterances.slice(0, COST_RECORDINGS));
    figures[`beam_${width}_${language}_wer`] = rate;
    figures[`beam_${width}_${language}_ms`] = round(searchMs, 2);
    console.log(
      `${language} beam of ${width}: WER ${rate}, ${searchMs.toFixed(2)} ms per audio second, ` +
        `${(100 * shareInStream(searchMs, encoderMs)).toFixed(2)} % of the encoder's ${Math.round(encoderMs)} ms in a stream`,
    );
  }
}

function round(value: number, digits = 1): number {
  return Number(value.toFixed(digits));
}
