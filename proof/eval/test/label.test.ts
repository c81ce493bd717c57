import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { certainty, leastCertainFirst, type Label } from '../src/label.ts';
import { readTrainingMaterial } from '../src/training-material.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FIXTURES = join(ROOT, 'core/models/fixtures');
const NAMES = ['kikuyu-1', 'kikuyu-2', 'dholuo-3'];
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'label-'));
  for (const name of NAMES) await cp(join(FIXTURES, `${name}.wav`), join(folder, `${name}.wav`));
  await writeFile(join(folder, 'speakers.tsv'), 'kikuyu-1\twanjiru\n');
});
afterAll(() => rm(folder, { recursive: true }));

const label = (confidence: number): Label => ({
  audio_filepath: `${confidence}.wav`,
  duration: 1,
  text: 'ee',
  lang: 'ki-KE',
  target_lang: 'ki-KE',
  confidence,
  check: false,
  words: [],
});

test('writes a NeMo manifest with text, times and confidence, the least certain third first', async () => {
  const models = await mkdtemp(join(tmpdir(), 'models-'));
  try {
    await symlink(join(ROOT, 'core/models/demo'), join(models, 'teacher'));
    const program = join(ROOT, 'core/models/cli/src/main.ts');
    const args = ['label', '--folder', folder, '--with', 'teacher', '--models', models];
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [program, ...args, '--out', folder]);
    expect(stdout).toContain('Listen to the first 1');
    const text = await readFile(join(folder, 'labels.json'), 'utf8');
    const lines: Label[] = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ check }) => check)).toEqual([true, false, false]);
    const confidences = lines.map(({ confidence }) => confidence);
    expect(confidences).toEqual(confidences.toSorted((a, b) => a - b));
    const line = lines.find(({ audio_filepath: path }) => path === join(folder, 'kikuyu-1.wav'));
    const expected = await readFile(join(FIXTURES, 'kikuyu-1.expected.txt'), 'utf8');
    expect(line).toMatchObject({ text: expected.trim(), lang: 'ki-KE', speaker: 'wanjiru' });
    expect(line?.words.map(({ word }) => word).join(' ')).toBe(line?.text);
    for (const { start, end } of line?.words ?? []) expect(end).toBeGreaterThanOrEqual(start);
    expect(line?.words.at(-1)?.end).toBeLessThanOrEqual(line?.duration ?? 0);
    const material = await readTrainingMaterial([join(folder, 'labels.json')]);
    expect(material.speakers).toEqual(new Set(['wanjiru']));
  } finally {
    await rm(models, { recursive: true });
  }
});

test('one uncertain word makes a sentence uncertain, and no words make it most so', () => {
  expect(certainty([{ confidence: 0.9 }, { confidence: 0.9 }])).toBe(0.9);
  expect(certainty([{ confidence: 1 }, { confidence: 0.01 }])).toBe(0.1);
  expect(certainty([])).toBe(0);
});

test('marks a third for checking, at least one', () => {
  const sorted = leastCertainFirst([0.9, 0.1, 0.5, 0.7].map(label));
  expect(sorted.map(({ confidence, check }) => [confidence, check])).toEqual([
    [0.1, true],
    [0.5, true],
    [0.7, false],
    [0.9, false],
  ]);
  expect(leastCertainFirst([label(1)])[0]?.check).toBe(true);
});
