import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatNumbers } from '@svc-asr/protocol/numbers/format-numbers.ts';
import { Lexicon } from '@svc-asr/protocol/numbers/lexicon.ts';
import { readNumbers } from '@svc-asr/protocol/numbers/read-number.ts';
import { mannersOf, sayNumber } from '@svc-asr/protocol/numbers/say-number.ts';
import { TABLES } from '@svc-asr/protocol/numbers/table.ts';
import { seededRandom } from '../conditions.ts';
import { normalise, words } from '../scoring.ts';
import { LANGUAGES, type Language } from '../sets.ts';
import { ownCpuMs } from '../statistics.ts';

const FILES = { ki: 'kik_sentences.tsv', luo: 'luo_sentences.tsv' } as const;
/** Words that leave no doubt that there is a number. */
const PLAIN = ['ten', 'tens', 'hundred', 'scale', 'half', 'point', 'currency', 'percent'] as const;
const LARGEST = 1_000_000_000;

/**
 * How many numbers aren't read as what was said: all up to `most`, and a fifth as many up to 10^9. `ambiguous` ones share their
 * words with another number, which is preferred; what was said is then among the alternatives.
 */
export function roundTrips(most: number): { checked: number; wrong: number; ambiguous: number } {
  const result = { checked: 0, wrong: 0, ambiguous: 0 };
  for (const table of Object.values(TABLES)) {
    const lexicon = new Lexicon(table.language);
    const manners = mannersOf(table);
    const random = seededRandom(11);
    for (let i = 1; i <= most * 1.2; i += 1) {
      const value = i <= most ? i : 1 + Math.floor(random() * LARGEST);
      const said = sayNumber(value, table, manners[i % manners.length]).split(' ');
      const [first, ...others] = readNumbers(lexicon, said, 0).filter(
        ({ end }) => end === said.length,
      );
      result.checked += 1;
      if (first?.value === value) continue;
      if (others.some((one) => one.value === value)) result.ambiguous += 1;
      else result.wrong += 1;
    }
  }
  return result;
}

export interface TextFigures {
  words: number;
  /** Conversions in sentences of either language. */
  numbers: number;
  /** Conversions in sentences without a plain number word, and conversions by the grammar of the other language. */
  falseOnes: number;
  /** Sentences whose beginning is written differently when more words follow. */
  unstable: number;
  usPerWord: number;
}

/** Formats sentence lists. Only counts leave this function: the texts are not ours to print. */
export async function formatSentences(folder: string, limit: number): Promise<TextFigures> {
  const total: TextFigures = { words: 0, numbers: 0, falseOnes: 0, unstable: 0, usPerWord: 0 };
  let cpuMs = 0;
  for (const language of LANGUAGES) {
    const other = language === 'ki' ? 'luo' : 'ki';
    const lexicon = new Lexicon(language);
    const random = seededRandom(7);
    const lines = (await readFile(join(folder, FILES[language]), 'utf8')).trim().split('\n');
    for (const line of lines.slice(0, limit)) {
      const said = spoken(line.split('\t')[1] ?? '');
      const beganMs = ownCpuMs();
      const whole = formatNumbers(said, language);
      cpuMs += ownCpuMs() - beganMs;
      total.words += said.length;
      total.numbers += whole.entities.length;
      const hasNumber = said.some(({ text }) => lexicon.is(text, ...PLAIN));
      if (!hasNumber) total.falseOnes += whole.entities.length;
      total.falseOnes += foreignOnes(said, other);
      if (!isStable(said, language, random)) total.unstable += 1;
    }
  }
  return { ...total, usPerWord: (1000 * cpuMs) / total.words };
}

function foreignOnes(said: ReturnType<typeof spoken>, other: Language): number {
  return formatNumbers(said, other).entities.filter(({ language }) => language === other).length;
}

/** Whether words that arrive in random pieces are written as the whole is. */
function isStable(
  said: ReturnType<typeof spoken>,
  language: Language,
  random: () => number,
): boolean {
  const { text } = formatNumbers(said, language);
  for (let end = 0; end < said.length; end += 1 + Math.floor(random() * 3)) {
    const part = formatNumbers(said.slice(0, end), language, { isEnded: false }).text;
    if (part !== '' && !`${text} `.startsWith(`${part} `)) return false;
  }
  return true;
}

function spoken(text: string) {
  return words(normalise(text)).map((word) => ({ text: word, start_ms: 0, end_ms: 0 }));
}
