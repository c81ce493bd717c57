import { expect, test } from 'vitest';
import { pages as allPages, readPage } from './blocks.ts';
import { denials, features } from './denials.ts';
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

const OPTIONS = features();

test('no page denies an option of the protocol', () => {
  const markdown = new Map([...allPages(), 'llms.txt'].map((page) => [page, readPage(page)]));
  expect(denials(OPTIONS, markdown)).toEqual([]);
});

test('the options come from the schema of config', () => {
  const options = OPTIONS.map(({ option }) => option);
  expect(options).toEqual(
    expect.arrayContaining(['keyterms', 'endpointing', 'numbers', 'eager_ms', 'detector']),
  );
  expect(options).not.toContain('id');
});

test.each([
  ['keyterms', 'Today keyterms are not supported.'],
  ['keyterms', "[Keyterms](x.md) aren't\navailable yet."],
  ['keyterms', '**Can I give it a list of words or names?** No.'],
  ['endpointing', 'The service does not support `endpointing`.'],
  ['numbers', 'There is no punctuation, and no capitals or digits.'],
  ['numbers', "| it does | it doesn't |\n|---|---|\n| text | punctuation, digits |"],
  [
    'keyterms',
    "## What we don't have\n\nCapitals, hints (key terms, custom vocabulary), and\nsummaries.",
  ],
  ['eager_ms', '| option | here |\n|---|---|\n| `eager_ms` | not supported |'],
])('finds a page that denies %s: %j', (option, text) => {
  const found = denials(OPTIONS, new Map([['a page', text]]));
  expect(found).toEqual([expect.stringMatching(`^a page: .* but config has ${option}$`)]);
});

test.each([
  'Without endpointing, only your flush ends an utterance.',
  'There are no names or numbers in the response.',
  'A model that ignores keyterms refuses every term.',
  '**Is there punctuation?** No.',
])('accepts %j, which denies no option', (text) => {
  expect(denials(OPTIONS, new Map([['a page', text]]))).toEqual([]);
});
