import { expect, test } from 'vitest';
import { formatNumbers } from './format-numbers.ts';
import type { NumberLanguage } from '../languages.ts';
import { Lexicon } from './lexicon.ts';
import { readNumbers } from './read-number.ts';
import { mannersOf, sayNumber } from './say-number.ts';
import { readTable, TABLES } from './table.ts';

const say = (text: string) =>
  text.split(' ').map((word, i) => ({
    text: word,
    start_ms: i * 400,
    end_ms: i * 400 + 380,
    confidence: 0.9,
  }));

function written(language: NumberLanguage, text: string): string {
  return formatNumbers(say(text), language).text;
}

test.each(Object.values(TABLES))(
  'reads every number that it says in $language as that number',
  (table) => {
    const lexicon = new Lexicon(table.language);
    const manners = mannersOf(table);
    for (let i = 1; i <= 1_200; i += 1) {
      const value = i <= 1_000 ? i : (i * 7_919 * 104_729) % 1_000_000_000;
      const words = sayNumber(value, table, manners[i % manners.length]).split(' ');
      const whole = readNumbers(lexicon, words, 0).filter(({ end }) => end === words.length);
      expect(
        whole.map((reading) => reading.value),
        words.join(' '),
      ).toContain(value);
    }
  },
);

test.each<[NumberLanguage, string, string]>([
  ['ki', 'mbũri magana meerĩ ma mĩrongo ĩtano na ithatũ', 'mbũri 253'],
  ['ki', 'mwaka wa ngiri igĩrĩ na mĩrongo ĩĩrĩ na ithathatũ', 'mwaka wa 2026'],
  ['luo', "dhok mia ariyo gi piero ang'wen gabich", 'dhok 245'],
  ['luo', 'ji alufu apar gariyo', 'ji 12,000'],
  // Borrowed, and mixed with a head of the own language.
  ['ki', 'ndĩrenda elfu mbili na mia tano', 'ndĩrenda 2500'],
  ['ki', 'ndĩrenda ngiri thelathini na tano', 'ndĩrenda 35,000'],
  ['luo', 'adwaro alufu sitini na moja', 'adwaro 61,000'],
  ['luo', 'adwaro three hundred and five', 'adwaro 305'],
  // Fractions.
  ['ki', 'kilo igĩrĩ na nuthu', 'kilo 2.5'],
  ['luo', 'milion adek nukta abich', '3,500,000'],
  // Particles stay visible.
  ['ki', 'mĩaka mĩrongo ĩna na ĩtanorĩ', 'mĩaka 45-rĩ'],
  ['luo', 'nyithindo piero adek gariyogo', 'nyithindo 32-go'],
  // A telephone number.
  ['ki', 'hũrĩra zero mũgwanja igĩrĩ igĩrĩ ithano inya', 'hũrĩra 072254'],
  ['luo', 'go zero seven double one four', 'go 07114'],
  // Other words beside a number are no reason to doubt it.
  ['ki', 'andũ mĩrongo ĩtatũ na ithano na atumia', 'andũ 35 na atumia'],
])('%s: writes "%s" as "%s"', (language, said, expected) => {
  expect(written(language, said)).toBe(expected);
});

test.each<[NumberLanguage, string]>([
  ['ki', 'ndĩ na mwana ũmwe'], // One word stays a word.
  ['luo', 'achiel kuomgi'],
  ['ki', 'thaa ikũmi na ĩmwe'], // An hour.
  ['luo', 'saa apar gariyo'],
  ['luo', 'mia mia piero abich abich'], // Distributive.
  ['luo', 'alufu ariyo kata adek'], // A shared head.
  ['ki', 'wa mĩrongo ĩrĩ na gatandatũ'], // An ordinal.
  ['ki', 'mĩrongo ĩrĩ na tano'], // Number words that don't fit together.
  ['ki', 'ĩmwe igĩrĩ ithatũ inya ithano'], // Counting aloud.
  // Beside what sounds like a number word that was misheard, digits would be those of half a number.
  ['ki', 'ciringi magana manana ma mĩrongo ĩnana na ithaatũ'],
  ['ki', 'ngiri mũgwanja magana meerĩ mĩrũngũ ĩtano'],
  ['ki', 'mzero inya ithatũ ithatũ inya ĩmwe'],
  ['luo', "piero ang'wen gi abiich"],
])('%s: leaves "%s" in words', (language, said) => {
  expect(written(language, said)).toBe(said);
});

test('describes an amount with its words, times, lowest confidence and other value', () => {
  const words = say('ndarĩhire ciringi ngiri mĩrongo ĩĩrĩ na ithano ira').map((word, i) => ({
    ...word,
    confidence: i === 4 ? 0.6 : 0.9,
  }));
  expect(formatNumbers(words, 'ki')).toEqual({
    text: 'ndarĩhire ciringi 25,000 ira',
    entities: [
      {
        kind: 'amount',
        text: '25,000',
        value: 25_000,
        first_word: 2,
        end_word: 7,
        start_ms: 800,
        end_ms: 2_780,
        confidence: 0.6,
        language: 'ki',
        currency: 'KES',
        alternatives: [20_005],
      },
    ],
  });
});

test('writes a single word in digits as an amount or a percentage', () => {
  expect(written('ki', 'ciringi ithano')).toBe('ciringi 5');
  expect(written('ki', 'gacunjĩ ka ithano harĩ igana')).toBe('gacunjĩ ka 5%');
  expect(written('luo', 'asilimia apar')).toBe('asilimia 10');
});

test('keeps a number in words if a word is below the least confidence', () => {
  const words = say('ciringi magana matano');
  expect(formatNumbers(words, 'ki', { leastConfidence: 0.9 }).entities).toHaveLength(1);
  const held = formatNumbers(words, 'ki', { leastConfidence: 0.91 });
  expect(held).toEqual({ text: 'ciringi magana matano', entities: [] });
});

test('writes the beginning of an utterance as the whole utterance has it', () => {
  const words = say('no mĩrongo ĩtatũ na inya harĩ igana cia ngiri igĩrĩ na magana matano tu');
  const whole = formatNumbers(words, 'ki');
  expect(whole.text).toBe('no 34% cia 2500 tu');
  for (let end = 0; end <= words.length; end += 1) {
    const { text } = formatNumbers(words.slice(0, end), 'ki', { isEnded: false });
    expect(`${whole.text} `.startsWith(text === '' ? '' : `${text} `), text).toBe(true);
  }
});

test.each(['na', 'zero', 'double', 'gaturumo igĩrĩ', 'ngiri', 'ĩmwe igĩrĩ ithatũ'])(
  'the cost of "%s" said for hours grows with its length',
  (said) => {
    const cpuUs = (times: number): number => {
      const words = say(Array.from({ length: times }, () => said).join(' '));
      const before = process.cpuUsage();
      formatNumbers(words, 'ki');
      return process.cpuUsage(before).user;
    };
    cpuUs(10_000); // The first run is compiled.
    const few = Math.max(cpuUs(1_000), 1_000);
    // Ten times as many words cost about ten times as much. Before, a hundred times.
    expect(cpuUs(10_000)).toBeLessThan(35 * few);
  },
);

test('names a line of a table that it cannot read', () => {
  expect(() => readTable('language ki: head_first\nunits 1: ĩmwe')).toThrow('units 1: ĩmwe');
  const form = readTable('language ki: head_first\nunit 4 1/2: ana?*').lines[1]?.forms[0];
  expect(form).toEqual({ text: 'ana', sure: 'guess', isWeak: true });
});
