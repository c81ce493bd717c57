import { expect, test } from 'vitest';
import * as fc from 'fast-check';
import {
  addTo,
  characterErrorRate,
  distance,
  emptyScore,
  normalise,
  withoutTilde,
  wordErrorRate,
} from '../src/scoring.ts';

const sequence = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 });

test('the edit distance is a metric', () => {
  fc.assert(
    fc.property(sequence, sequence, sequence, (a, b, c) => {
      expect(distance(a, b)).toBe(distance(b, a));
      expect(distance(a, b) === 0).toBe(a.join() === b.join());
      expect(distance(a, c)).toBeLessThanOrEqual(distance(a, b) + distance(b, c));
      expect(distance(a, b)).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
    }),
  );
});

test('weights errors by utterance length', () => {
  const score = emptyScore();
  addTo(score, { spoken: 'nĩ wega mũno', recognised: 'nĩ wega muno' });
  addTo(score, { spoken: 'ee', recognised: 'ee na' });
  expect(score.utterances).toBe(2);
  expect(wordErrorRate(score)).toBe(50);
  expect(characterErrorRate(score)).toBe(28.6);
});

test('an empty reference and hypothesis have no errors', () => {
  const score = emptyScore();
  addTo(score, { spoken: '', recognised: '' });
  expect(wordErrorRate(score)).toBe(0);
});

test('normalises spelling before comparing', () => {
  expect(normalise('Nī WEGA, mûno!')).toBe('nĩ wega mũno');
  expect(normalise('mu\u0303no')).toBe('mũno');
  expect(normalise('Ng’ato “ma’ber” nyar-gi')).toBe("ng'ato maber nyargi");
});

test('removes only tildes', () => {
  expect(withoutTilde('mũno nĩ wega')).toBe('muno ni wega');
});
