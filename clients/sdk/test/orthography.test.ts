import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldForSearch, includesFolded, normalizeText, tokenize } from '../src/orthography.ts';

test('normalises ĩ and ũ to the composed letters', () => {
  expect(normalizeText('ni\u0303 wega mu\u0303no')).toBe('nĩ wega mũno');
  expect(normalizeText('ng\u2019ombe  ya \n Wanjikũ ')).toBe("ng'ombe ya Wanjikũ");
});

test('a search without tildes finds text with them', () => {
  expect(foldForSearch('Mũgĩkũyũ')).toBe('mugikuyu');
  expect(includesFolded('Ũhoro waku, mũrata wakwa?', 'uhoro waku')).toBe(true);
  expect(includesFolded('Ũhoro waku, mũrata wakwa?', 'murata  WAKWA')).toBe(true);
  expect(includesFolded('Ũhoro waku', 'hor')).toBe(false);
});

test('folds only the tilde, because other marks make other letters', () => {
  expect(foldForSearch('café ñ')).toBe('café n');
});

test("words keep their apostrophes, because ng' is one sound", () => {
  expect(tokenize("Ng'ombe ciakwa, ng’ano; 20 ma-ũndũ!")).toEqual([
    "Ng'ombe",
    'ciakwa',
    "ng'ano",
    '20',
    'ma-ũndũ',
  ]);
  expect(tokenize('')).toEqual([]);
});

test('folding and normalising are idempotent', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(normalizeText(normalizeText(text))).toBe(normalizeText(text));
      expect(foldForSearch(foldForSearch(text))).toBe(foldForSearch(text));
      expect(tokenize(normalizeText(text))).toEqual(tokenize(text));
    }),
  );
});
