import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startSherpaEngine, type Engine } from '@svc-asr/engine';
import { formatNumbers } from '@svc-asr/protocol/numbers/format-numbers.ts';
import { TABLES } from '@svc-asr/protocol/numbers/table.ts';
import { mapConcurrently } from '../concurrency.ts';
import { recogniseWords } from '../recognise.ts';
import { normalise } from '../scoring.ts';
import { isFolder, LANGUAGES, MODEL_OF, readFolder, renderTexts, type Utterance } from '../sets.ts';
import { round } from '../statistics.ts';
import { saidNumbers, type SaidNumber } from './said-numbers.ts';
import { formatSentences, roundTrips } from './text-figures.ts';

const GOALS = { falsePer10000: 0.5, rightPct: 95, wrongPct: 1 } as const;
const STREAMS_AT_ONCE = 4;
const THRESHOLDS = [0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9] as const;
/** The voices that a threshold is chosen on, and those that judge it. */
const DESIGN = ['seen'] as const;
const JUDGES = ['unseen', 'festival'] as const;

interface Options {
  readonly sentences?: string;
  readonly out: string;
  readonly limit: number;
  readonly short: boolean;
  readonly modelsDir: string;
}

/** One number through the recogniser. */
interface Outcome {
  /** Whether all of its words were recognised. */
  readonly isHeard: boolean;
  readonly result: 'right' | 'wrong' | 'left';
  /** The lowest confidence of its words. */
  readonly confidence: number;
}

export async function evaluateNumbers(options: Options): Promise<number> {
  for (const { language, lines } of Object.values(TABLES)) {
    const forms = lines.flatMap((line) => line.forms);
    const guesses = forms.filter(({ sure }) => sure === 'guess').length;
    console.log(`${language}: ${forms.length} forms, ${guesses} of them in no text`);
  }
  const trips = roundTrips(options.short ? 5_000 : 1_000_000);
  console.log(`Round trips: ${JSON.stringify(trips)}`);
  const figures: Record<string, number> = { numbers_round_trip_wrong: trips.wrong };
  let unstable = 0;
  if (options.sentences !== undefined) {
    const texts = await formatSentences(resolve(options.sentences), options.short ? 500 : Infinity);
    unstable = texts.unstable;
    console.log('Sentences:', JSON.stringify(texts));
    figures['numbers_false_per_10000'] = round((1e4 * texts.falseOnes) / texts.words, 2);
    figures['numbers_us_per_word'] = round(texts.usPerWord, 1);
  }
  const judged = await throughRecogniser(options);
  const heard = judged.filter(({ isHeard }) => isHeard);
  for (const result of ['right', 'wrong', 'left'] as const) {
    figures[`numbers_${result}_pct`] = share(heard, result);
    figures[`numbers_spoken_${result}_pct`] = share(judged, result);
  }
  const passed =
    trips.wrong === 0 &&
    unstable === 0 &&
    (figures['numbers_false_per_10000'] ?? 0) <= GOALS.falsePer10000 &&
    share(heard, 'right') >= GOALS.rightPct &&
    share(heard, 'wrong') <= GOALS.wrongPct;
  console.log(JSON.stringify({ name: 'eval-numbers', passed, figures }));
  return passed ? 0 : 1;
}

/** Says the numbers with the evaluation voices and returns the outcomes of those that judge. */
async function throughRecogniser(options: Options): Promise<Outcome[]> {
  const count = options.short ? 12 : options.limit;
  const folder = join(resolve(options.out), `numbers-${count}`);
  const said = { ki: saidNumbers('ki', count), luo: saidNumbers('luo', count) };
  await mkdir(folder, { recursive: true });
  for (const [language, file] of [
    ['ki', 'kik.txt'],
    ['luo', 'luo.txt'],
  ] as const) {
    const lines = said[language].map(({ phrase }) => `${phrase}\n`);
    await writeFile(join(folder, file), lines.join(''));
  }
  await renderTexts({ texts: folder, out: folder });
  // A voice may leave a phrase out, or say it differently.
  const numberOf = (one: Utterance): SaidNumber | undefined =>
    said[one.language].find(({ phrase }) => normalise(phrase) === one.spoken);
  const engine = await startSherpaEngine({ modelsDir: options.modelsDir });
  try {
    const outcomes = async (sets: readonly string[]): Promise<Outcome[]> => {
      const found: Outcome[] = [];
      for (const set of sets) {
        if (!(await isFolder(join(folder, set)))) continue;
        const spoken = await readFolder(join(folder, set));
        const utterances = spoken.filter((one) => numberOf(one) !== undefined);
        const own = await mapConcurrently(utterances, STREAMS_AT_ONCE, (one) =>
          outcomeOf(engine, one, numberOf(one)),
        );
        print(set, utterances, own);
        found.push(...own);
      }
      return found;
    };
    printThresholds('design', await outcomes(DESIGN));
    const judged = await outcomes(JUDGES);
    printThresholds('judges', judged);
    return judged;
  } finally {
    await engine.close();
  }
}

async function outcomeOf(
  engine: Engine,
  one: Utterance,
  number: SaidNumber | undefined,
): Promise<Outcome> {
  const { words } = await recogniseWords(engine, { model: MODEL_OF[one.language], wave: one.wave });
  const said = words.map((word) => ({
    text: word.text,
    start_ms: word.startMs,
    end_ms: word.endMs,
    ...(word.confidence === undefined ? {} : { confidence: word.confidence }),
  }));
  const { entities } = formatNumbers(said, one.language);
  const isRight = entities.some(({ kind, text, value }) =>
    kind === 'digits' ? text === number?.expected : value === number?.expected,
  );
  const text = ` ${said.map((word) => word.text).join(' ')} `;
  return {
    isHeard: text.includes(` ${number?.words} `),
    result: isRight ? 'right' : entities.length > 0 ? 'wrong' : 'left',
    confidence: Math.min(1, ...entities.flatMap(({ confidence }) => confidence ?? [])),
  };
}

function share(outcomes: readonly Outcome[], result: Outcome['result']): number {
  if (outcomes.length === 0) return 0;
  const count = outcomes.filter((outcome) => outcome.result === result).length;
  return round((100 * count) / outcomes.length, 2);
}

function print(set: string, utterances: readonly Utterance[], outcomes: readonly Outcome[]): void {
  for (const language of LANGUAGES) {
    const all = outcomes.filter((_, at) => utterances[at]?.language === language);
    const heard = all.filter(({ isHeard }) => isHeard);
    const shares = (some: readonly Outcome[]): string =>
      `right ${share(some, 'right')} %, wrong ${share(some, 'wrong')} %, in words ${share(some, 'left')} %`;
    console.log(`${set} ${language}: ${all.length} numbers: ${shares(all)}`);
    console.log(`  of the ${heard.length} whose words were recognised: ${shares(heard)}`);
  }
}

/** What is left of the digits if those below a confidence stay in words. */
function printThresholds(name: string, outcomes: readonly Outcome[]): void {
  const digits = outcomes.filter(({ result }) => result !== 'left');
  for (const least of THRESHOLDS) {
    const kept = digits.filter(({ confidence }) => confidence >= least);
    const right = kept.filter(({ result }) => result === 'right').length;
    console.log(`${name} from ${least} on: ${right} right, ${kept.length - right} wrong`);
  }
}
