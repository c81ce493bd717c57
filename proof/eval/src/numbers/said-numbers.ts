import { mannersOf, sayNumber } from '@svc-asr/protocol/numbers/say-number.ts';
import { formsOf, TABLES } from '@svc-asr/protocol/numbers/table.ts';
import { seededRandom } from '../conditions.ts';
import type { Language } from '../sets.ts';

/** A phrase with one number, and what should be written for it. */
export interface SaidNumber {
  readonly phrase: string;
  /** The words of the number. */
  readonly words: string;
  /** The value, or the digits of a telephone number. */
  readonly expected: number | string;
}

const NOUNS = {
  ki: ['andũ', 'mbũri', 'mĩaka', 'mĩtĩ', 'mahiga'],
  luo: ['ji', 'dhok', 'higni', 'yiende', 'kite'],
} as const;
const MONEY = { ki: 'ciringi', luo: "siling'" } as const;
const TELEPHONE_DIGITS = 10;

/** Amounts, counts and telephone numbers in turn, the same on every machine. */
export function saidNumbers(language: Language, count: number): SaidNumber[] {
  const random = seededRandom(language === 'ki' ? 47 : 48);
  const table = TABLES[language];
  const manners = mannersOf(table);
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  return Array.from({ length: count }, (_, i) => {
    if (i % 3 === 2) {
      const digits = Array.from(
        { length: TELEPHONE_DIGITS - 1 },
        () => 1 + Math.floor(random() * 9),
      );
      const zero = formsOf(table, 'zero').includes('zero') ? 'zero' : '';
      const words = [zero, ...digits.map((digit) => sayNumber(digit, table))].join(' ');
      return { phrase: words, words, expected: `0${digits.join('')}` };
    }
    const expected = 11 + Math.floor(10 ** (1 + random() * 4.5));
    const words = sayNumber(expected, table, { ...pick(manners), agreement: 'counting' });
    const before = i % 3 === 0 ? MONEY[language] : pick(NOUNS[language]);
    return { phrase: `${before} ${words}`, words, expected };
  });
}
