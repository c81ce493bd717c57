import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writeModelSet } from '@svc-asr/models/model-set.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Count } from '../src/bootstrap.ts';
import { readFixtures } from '../src/sets.ts';
import { bestOf, crossValidated } from '../src/decoding/sweep-decoding.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FIXTURES = join(ROOT, 'core/models/fixtures');
let models = '';
let sentences: readonly string[] = [];
beforeAll(async () => {
  models = await mkdtemp(join(tmpdir(), 'models-'));
  await cp(join(ROOT, 'proof/testing/stand-in'), join(models, 'ctc'), { recursive: true });
  sentences = (await readFixtures())
    .filter(({ language }) => language === 'ki')
    .map(({ spoken }) => spoken);
});
afterAll(() => rm(models, { recursive: true }));

/** A bigram model of words that has all words of the fixtures, and the bigrams of some sentences. */
async function installLm(texts: readonly string[]): Promise<void> {
  const known = new Set(sentences.flatMap((text) => text.split(' ')));
  const bigrams = new Set(
    texts.flatMap((text) => {
      const units = ['<s>', ...text.split(' '), '</s>'];
      return units.slice(1).map((unit, at) => `${units[at]} ${unit}`);
    }),
  );
  const unigrams = ['<unk>', '<s>', '</s>', ...known].map((word) => `-2\t${word}\t0`);
  const arpa = [
    '\\data\\',
    `ngram 1=${unigrams.length}`,
    `ngram 2=${bigrams.size}`,
    '\n\\1-grams:',
    ...unigrams,
    '\n\\2-grams:',
    ...[...bigrams].map((bigram) => `-0.1\t${bigram}`),
    '\n\\end\\\n',
  ];
  await writeFile(join(models, 'ctc/lm-ki'), arpa.join('\n'));
  await writeModelSet(join(models, 'ctc'), {
    build: 'ctc',
    kind: 'offline_ctc',
    licence: 'CC-BY-SA-4.0',
    source: 'a test',
    normaliser: 'none',
    extra_lead_in_ms: 0,
    languages: { 'svc-asr-kikuyu-v1': 'ki-KE', 'svc-asr-dholuo-v1': 'luo-KE' },
    files: { model: 'model.onnx', tokens: 'tokens.txt' },
    decoding: { 'svc-asr-kikuyu-v1': { lm: 'lm-ki', unit: 'word', alpha: 0, beta: 0, beam: 64 } },
  });
}

/** Runs the command that the guide prints. */
async function sweep(...args: string[]): Promise<string> {
  const program = join(ROOT, 'core/models/cli/src/main.ts');
  const given = ['sweep', 'ctc', '--folder', FIXTURES, '--models', models, ...args];
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...given]);
  return stdout;
}

test('finds alpha, beta and beam that make fewer errors, and measures them on other speakers', async () => {
  await installLm(['ũrĩa mũndũ']);
  const said = await sweep();
  const figures: unknown = JSON.parse(said.trim().split('\n').at(-1) ?? '').figures;
  expect(figures).toMatchObject({ wer_ki_now: expect.any(Number), beam_ki: 8 });
  expect(said).toMatch(/now {3}alpha 0, beta 0, beam 64: WER/);
  expect(said).toMatch(/Best: {"alpha":[\d.]+,"beta":[\d.-]+,"beam":8} for svc-asr-kikuyu-v1/);
  const { wer_ki_now: now, wer_ki_best: best } = Object(figures);
  expect(best).toBeLessThan(now);
});

test('refuses to tune if the language model has all n-grams of the recordings', async () => {
  await installLm(sentences);
  await expect(sweep()).rejects.toThrow(/has all n-grams of 4 of 4 sentences/);
});

test.each([
  ['a line', (text: string) => text.toUpperCase()],
  ['a part of a line', (text: string) => `ũrĩa ${text.trim()}, mũndũ`],
])('refuses to tune if one sentence is %s in the text of the language model', async (_, lineOf) => {
  await installLm(['ũrĩa mũndũ']);
  const text = await readFile(join(FIXTURES, 'kikuyu-2.txt'), 'utf8');
  const file = join(models, 'lines.txt');
  await writeFile(file, `ũrĩa mũndũ\n${lineOf(text)}\n`);
  await expect(sweep('--lm-text', file)).rejects.toThrow(/1 of 4 sentences are in the text/);
});

const tried = (alpha: number, errors: Readonly<Record<string, number>>) => ({
  setting: { alpha, beta: 0, beam: 16 },
  counts: Object.entries(errors).map(([speaker, wrong]): Count => ({
    speaker,
    errors: wrong,
    total: 10,
  })),
});

test('the setting for a speaker is chosen on other speakers', () => {
  const settings = [tried(0, { a: 0, b: 9 }), tried(1, { a: 8, b: 0 })];
  expect(bestOf(settings).setting.alpha).toBe(1);
  expect(crossValidated(settings).map(({ errors }) => errors)).toEqual([8, 9]);
});
