import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatNumbers } from '@svc-asr/protocol/numbers/format-numbers.ts';
import { expect, test } from 'vitest';
import { saidNumbers } from '../src/numbers/said-numbers.ts';
import { formatSentences, roundTrips } from '../src/numbers/text-figures.ts';

test.each(['ki', 'luo'] as const)(
  'numbers that are said in %s are written as expected if every word is recognised',
  (language) => {
    for (const { phrase, expected } of saidNumbers(language, 60)) {
      const words = phrase.split(' ').map((text) => ({ text, start_ms: 0, end_ms: 0 }));
      const [entity, ...others] = formatNumbers(words, language).entities;
      expect(others).toEqual([]);
      expect(entity?.value ?? entity?.text, phrase).toBe(expected);
    }
  },
);

test('every number is read as it was said', () => {
  expect(roundTrips(300)).toEqual({ checked: 4 * 360, wrong: 0, ambiguous: 0 });
});

test('counts words and numbers of sentence lists', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-numbers-'));
  await writeFile(join(folder, 'kik_sentences.tsv'), 'own\tNĩ mbũri magana matano.\n');
  await writeFile(join(folder, 'luo_sentences.tsv'), 'own\tAchiel kuomgi nobiro ka.\n');
  const figures = await formatSentences(folder, 10);
  expect(figures).toMatchObject({ words: 8, numbers: 1, falseOnes: 0, unstable: 0 });
  await rm(folder, { recursive: true });
});
