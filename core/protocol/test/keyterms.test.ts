import { expect, test } from 'vitest';
import { foldKeyterm, KEYTERMS, readKeyterms } from '../src/keyterms.ts';

test.each([
  ['Wanjirũ', 'wanjirũ'],
  ['  KĨAMBU   ', 'kĩambu'],
  ['Wanjiru\u0303', 'wanjirũ'],
  ['Kîambu', 'kĩambu'],
  ['Kiambu~', 'kiambũ'],
  ['Ng’ang’a', "ng'ang'a"],
  ["Murang'a", "murang'a"],
  ["D'Souza", 'dsouza'],
  ['Njoki  wa\tKamau', 'njoki wa kamau'],
  ['Anne-Marie', 'annemarie'],
])('folds %j to %j, as the models write it', (term, folded) => {
  expect(foldKeyterm(term)).toBe(folded);
  expect(readKeyterms([term], true)).toEqual({ taken: [folded], refused: [] });
});

test('says why a term is not used, by its place in the list', () => {
  const list = ['Otieno', 7, ' ', 'café', 'OTIENO', '3G', null, 'Achieng'];
  expect(readKeyterms(list, true)).toEqual({
    taken: ['otieno', 'achieng'],
    refused: [
      { index: 1, reason: 'not_text' },
      { index: 2, reason: 'empty' },
      { index: 3, reason: 'unsupported_characters' },
      { index: 4, reason: 'duplicate' },
      { index: 5, reason: 'unsupported_characters' },
      { index: 6, reason: 'not_text' },
    ],
  });
});

test('takes a hundred terms, and one refusal stands for all others', () => {
  const list = Array.from(
    { length: 5_000 },
    (_, at) => `jina${'abcdefghij'[at % 10]}${letter(at)}`,
  );
  const { taken, refused } = readKeyterms(list, true);
  expect(taken).toHaveLength(KEYTERMS.termsMax);
  expect(refused).toEqual([{ index: KEYTERMS.termsMax, reason: 'too_many' }]);
});

test('takes a thousand characters in all, and shorter terms after one that is too long', () => {
  const list = ['a'.repeat(600), 'b'.repeat(401), 'c'.repeat(400), 'd', 'e'.repeat(1_000_000)];
  expect(readKeyterms(list, true).refused).toEqual([
    { index: 1, reason: 'too_long' },
    { index: 3, reason: 'too_long' },
    { index: 4, reason: 'too_long' },
  ]);
});

test('refuses all if the model takes none', () => {
  const { taken, refused } = readKeyterms(['a', 7], false);
  expect(taken).toEqual([]);
  expect(refused.map(({ reason }) => reason)).toEqual(['not_supported', 'not_supported']);
});

function letter(at: number): string {
  return String.fromCharCode(97 + (Math.floor(at / 10) % 26));
}

test('marks without end are refused without being put in order, and nothing is folded for a model without keyterms', () => {
  const marks = `a${'\u0301'.repeat(995)}${'\u0316'.repeat(995)}`;
  expect(foldKeyterm(marks)).toBe(marks);
  const refused = [{ index: 0, reason: 'unsupported_characters' }];
  expect(readKeyterms([marks], true)).toEqual({ taken: [], refused });
  expect(readKeyterms(['Wega'], false).refused).toEqual([{ index: 0, reason: 'not_supported' }]);
});
