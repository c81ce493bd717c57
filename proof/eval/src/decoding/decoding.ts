import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CtcLoader, type CtcRecogniser, type Decoding } from '@svc-asr/engine';
import { errorRate, type Count, type Interval } from '../bootstrap.ts';
import { overTelephone, withWhiteNoise } from '../conditions.ts';
import { countErrors, filesOf, searchCost, stream } from './decoding-set.ts';
import { LANGUAGES, readFolder, type Language, type Utterance } from '../sets.ts';

/**
 * Compares greedy decoding, beam search and beam search with a language model on recordings, streamed in chunks:
 *
 *   node proof/eval/src/decoding/decoding.ts --folder DIR --model proof/testing/stand-in --ki ki.arpa --luo luo.arpa --unit character
 *
 * `--dump DIR` writes the logits of whole recordings and our texts for them instead, which
 * `python -m speech.ngrams.compare_decoders` compares with pyctcdecode's. `--limit N` takes the first recordings of each language.
 */
const { values: options } = parseArgs({
  options: {
    folder: { type: 'string' },
    model: { type: 'string' },
    ki: { type: 'string' },
    luo: { type: 'string' },
    unit: { type: 'string', default: 'character' },
    unigrams: { type: 'string' },
    'unk-score-offset': { type: 'string', default: '-10' },
    alpha: { type: 'string', default: '1' },
    beta: { type: 'string', default: '0.5' },
    beam: { type: 'string', default: '16' },
    prune: { type: 'string', default: '10' },
    'prune-labels': { type: 'string', default: '6' },
    condition: { type: 'string', default: 'clean' },
    limit: { type: 'string', default: '1000' },
    dump: { type: 'string' },
  },
});

const CONDITIONS: Readonly<Record<string, (wave: Float32Array, seed: number) => Float32Array>> = {
  clean: (wave) => wave,
  telephone: overTelephone,
  noise: withWhiteNoise,
};
const disturb = CONDITIONS[options.condition];
if (options.folder === undefined || options.model === undefined || disturb === undefined) {
  throw new RangeError('Give --folder, --model and a --condition: clean, telephone or noise.');
}
const files = filesOf(options.model);
const loader = new CtcLoader();
const search = {
  width: Number(options.beam),
  pruneHypotheses: Number(options.prune),
  pruneLabels: Number(options['prune-labels']),
};
const utterances = (await readFolder(options.folder)).map((one, at) => ({
  ...one,
  wave: disturb(one.wave, at),
}));
for (const language of LANGUAGES) {
  const own = utterances.filter((one) => one.language === language).slice(0, Number(options.limit));
  if (own.length > 0) await compare(language, own);
}

function withModel(path: string): Decoding {
  if (options.unit !== 'character' && options.unit !== 'word') {
    throw new RangeError('--unit must be character or word.');
  }
  const unknownOffset = Number(options['unk-score-offset']);
  const weights = { alpha: Number(options.alpha), beta: Number(options.beta), unknownOffset };
  const { unit, unigrams } = options;
  const list = unigrams === undefined ? {} : { unigrams };
  return { ...search, lm: { path, unit, ...list, ...weights } };
}

async function compare(language: Language, own: readonly Utterance[]): Promise<void> {
  const lm = options[language];
  if (options.dump !== undefined) {
    if (lm === undefined) throw new RangeError('--dump needs a language model of each language.');
    const model = await loader.load({ files, decoding: withModel(lm) });
    await dump(options.dump, model, own);
    return;
  }
  const greedy = await loader.load({ files });
  const beam = await loader.load({ files, decoding: search });
  await report(`${language} greedy`, greedy, own);
  await report(`${language} beam`, beam, own);
  if (lm === undefined) return;
  const beganMs = performance.now();
  const model = await loader.load({ files, decoding: withModel(lm) });
  console.log(`${language} language model loaded in ${ms(performance.now() - beganMs)}`);
  await report(`${language} beam and language model`, model, own);
}

async function report(
  name: string,
  recogniser: CtcRecogniser,
  own: readonly Utterance[],
): Promise<void> {
  const counts: Count[] = [];
  const lags: number[] = [];
  for (const { wave, spoken, name: file } of own) {
    const { text, lagsMs } = await stream(recogniser, wave);
    counts.push(countErrors(spoken, text, file));
    lags.push(...lagsMs);
  }
  lags.sort((one, other) => one - other);
  const mean = lags.reduce((sum, one) => sum + one, 0) / Math.max(1, lags.length);
  const p90 = lags[Math.floor(0.9 * lags.length)] ?? 0;
  const cost = await searchCost(recogniser, own.slice(0, 40));
  console.log(
    `${name}: WER ${present(errorRate(counts))}, stable after ${ms(mean)} (p90 ${ms(p90)}), ` +
      `search ${cost.searchMs.toFixed(2)} ms and encoder ${cost.encoderMs.toFixed(1)} ms per audio second`,
  );
}

async function dump(
  folder: string,
  recogniser: CtcRecogniser,
  own: readonly Utterance[],
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { name, wave, spoken } of own) {
    const { logits, count, width } = await recogniser.model.run(wave);
    const { text } = await recogniser.recogniseWhole(wave);
    await writeFile(
      join(folder, `${name}.f32`),
      new Uint8Array(logits.buffer, logits.byteOffset, 4 * count * width),
    );
    await writeFile(join(folder, `${name}.json`), JSON.stringify({ text, spoken, width }));
  }
}

function present({ rate, low, high }: Interval): string {
  return `${rate} (${low} to ${high})`;
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}
