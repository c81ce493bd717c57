import { expect, test } from 'vitest';
import { contradictions, FACTS, MODEL_NAMES, texts, unstated } from './facts.ts';

const pages = texts();

test('no page contradicts a constant', () => {
  expect(contradictions(FACTS, pages)).toEqual([]);
});

test('every constant is stated on a page, and another number in the same words is found', () => {
  expect(unstated(FACTS, pages)).toEqual([]);
  const wrong = new Map([
    ['a page', 'The server pings every 25 s. It works once, for 60 seconds.'],
  ]);
  expect(contradictions(FACTS, wrong)).toEqual([
    'a page: "pings every 25 s", but pingIntervalMs is 20',
  ]);
});

test('pages name only models that exist', () => {
  const named = [...pages].flatMap(([page, text]) =>
    [...text.matchAll(/svc-asr-[a-z]+-v\d+/g)].map(([id]) => ({ page, id })),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ id }) => !MODEL_NAMES.has(id))).toEqual([]);
});
