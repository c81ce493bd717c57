import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KeytermTree, type CtcRecogniser, type Logits } from '@svc-asr/engine';
import { AUDIO, KEYTERMS, readKeyterms } from '@svc-asr/protocol';
import { readSet, textOf } from './decoding-set.ts';
import { words } from '../scoring.ts';
import { LANGUAGES, type Language, type Utterance } from '../sets.ts';

/** What each letter of a keyterm may add, in natural logarithms. */
const BOOSTS = [0.5, 0.75, 1, 1.5, 2] as const;
/** With none found, fewer than this many are expected, with 95 % confidence. */
const NONE_FOUND_95 = 3;

export interface KeytermInput {
  readonly folder: string;
  readonly limit: number;
  readonly recognisers: Readonly<Record<Language, CtcRecogniser>>;
}

/** Names found without and with keyterms, and false ones in speech without names. */
interface Tally {
  names: number;
  before: number;
  after: number;
  false: number;
  seconds: number;
}

/**
 * Chooses the boost on the half `design` of `names/` and `plain/` and judges it on the other, which has other names and
 * voices: the boost that finds most names among those with the fewest false ones. Null without these folders.
 */
export async function measureKeyterms(
  input: KeytermInput,
): Promise<Readonly<Record<string, number>> | null> {
  const design = await loadHalf(input, 'design', []);
  const judge = await loadHalf(input, 'judge', ['seen', 'unseen']);
  if (design.length === 0 || judge.length === 0) return null;
  const tallies = BOOSTS.map((boost) => ({ boost, ...measure(design, boost) }));
  for (const one of tallies) console.log(`keyterms, design, boost ${one.boost}: ${present(one)}`);
  const [best] = tallies.toSorted(
    (one, other) => one.false - other.false || other.after - one.after || one.boost - other.boost,
  );
  const boost = best?.boost ?? BOOSTS[0];
  const judged = measure(judge, boost);
  const ours = measure(judge);
  console.log(`keyterms, judge, chosen boost ${boost}: ${present(judged)}`);
  console.log(`keyterms, judge, the engine's boost: ${present(ours)}`);
  const percent = (part: number): number => round((100 * part) / Math.max(1, ours.names));
  return {
    keyterm_boost_chosen: boost,
    keyterm_names: ours.names,
    keyterm_recall_before: percent(ours.before),
    keyterm_recall_after: percent(ours.after),
    keyterm_false_per_hour: round((3600 * ours.false) / ours.seconds),
    keyterm_plain_minutes: Math.round(ours.seconds / 60),
  };
}

/** Recordings that are encoded once for every boost. */
interface Part {
  readonly recogniser: CtcRecogniser;
  readonly list: readonly string[];
  readonly named: readonly { readonly text: string; readonly logits: Logits }[];
  readonly plain: readonly {
    readonly text: string;
    readonly logits: Logits;
    readonly seconds: number;
  }[];
}

async function loadHalf(
  input: KeytermInput,
  half: 'design' | 'judge',
  more: readonly string[],
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const language of LANGUAGES) {
    const recogniser = input.recognisers[language];
    const encode = async ({ wave, spoken }: Utterance) => ({
      text: spoken,
      logits: await recogniser.model.run(wave),
      seconds: wave.length / AUDIO.sampleRateHz,
    });
    const named = [];
    for (const one of await readSet(input, `names/${half}`, language)) {
      named.push(await encode(one));
    }
    if (named.length === 0) continue;
    const plain = [];
    for (const set of [`plain/${half}`, ...more]) {
      for (const one of await readSet(input, set, language)) plain.push(await encode(one));
    }
    const list = await readList(join(input.folder, 'names'), half, language);
    parts.push({ recogniser, list, named, plain });
  }
  return parts;
}

/** The names of this language and half, then all others up to the limit. */
async function readList(
  folder: string,
  half: 'design' | 'judge',
  language: Language,
): Promise<readonly string[]> {
  const halves = ['design', 'judge'].toSorted((one, other) => first(half, one, other));
  const languages = LANGUAGES.toSorted((one, other) => first(language, one, other));
  const files = languages.flatMap((code) => halves.map((each) => `${each}/keyterms-${code}`));
  const lists = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const names = lists.flatMap((list) => list.split('\n').filter((name) => name !== ''));
  return readKeyterms(names.slice(0, KEYTERMS.termsMax), true).taken;
}

/** Sorts the wanted one to the front. */
function first(wanted: string, one: string, other: string): number {
  return Number(other === wanted) - Number(one === wanted);
}

/** Without a boost, that of the engine. */
function measure(parts: readonly Part[], boost?: number): Tally {
  const tally: Tally = { names: 0, before: 0, after: 0, false: 0, seconds: 0 };
  for (const { recogniser, list, named, plain } of parts) {
    const keyterms = new KeytermTree(list);
    const terms = new Set(list);
    for (const { text, logits } of named) {
      const before = new Set(words(textOf(recogniser.newText(), logits)));
      const after = new Set(words(textOf(recogniser.newText(keyterms, boost), logits)));
      const said = words(text).filter((word) => terms.has(word));
      tally.names += said.length;
      tally.before += said.filter((word) => before.has(word)).length;
      tally.after += said.filter((word) => after.has(word)).length;
    }
    for (const { text, logits, seconds } of plain) {
      const said = new Set(words(text));
      const recognised = words(textOf(recogniser.newText(keyterms, boost), logits));
      tally.false += recognised.filter((word) => terms.has(word) && !said.has(word)).length;
      tally.seconds += seconds;
    }
  }
  return tally;
}

function present({ names, before, after, false: wrong, seconds }: Tally): string {
  const most =
    wrong === 0 ? ` (95 %: under ${round((3600 * NONE_FOUND_95) / seconds)} an hour)` : '';
  return (
    `${before} of ${names} names found without them, ${after} with; ` +
    `${wrong} false in ${Math.round(seconds / 60)} minutes of other speech${most}`
  );
}

function round(value: number): number {
  return Number(value.toFixed(1));
}
