import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isCutInSpeech } from '../src/cut-clips.ts';
import { checkRecordings, figuresOfFindings, presentFindings } from '../src/recordings-check.ts';
import type { Recording } from '../src/recordings.ts';
import { normalise } from '../src/scoring.ts';
import { readFixtures } from '../src/sets.ts';

let folder = '';
let training = '';
let recordings: Recording[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recordings-'));
  training = await mkdtemp(join(tmpdir(), 'training-'));
  recordings = [];
});
afterEach(async () => {
  for (const path of [folder, training]) await rm(path, { recursive: true });
});

async function record(text: string, change: Partial<Recording> = {}): Promise<void> {
  const at = recordings.length;
  const name = `luo-${at}`;
  await writeFile(join(folder, `${name}.txt`), text);
  recordings.push({
    name,
    language: 'luo',
    wave: new Float32Array(16_000).fill(at / 100, 4_000, 12_000),
    spoken: normalise(text),
    speaker: `speaker ${at}`,
    band: 'wide band',
    length: 'under 3 s',
    ...change,
  });
}

async function clean(): Promise<void> {
  const numbers = ['achiel', 'ariyo', 'adek', "ang'wen", 'abich', 'auchiel'];
  for (const number of numbers) await record(`Nyathi ${number} nobiro kawuono.`);
}

const found = async (...paths: string[]): Promise<Record<string, number>> =>
  figuresOfFindings(await checkRecordings({ folder, recordings, training: paths }));

test('finds nothing in clean recordings of six speakers', async () => {
  await clean();
  expect(await found()).toEqual({});
});

test.each([
  ['MÅ©no', { found_double_encoded: 1 }],
  ['MÅ¨no', { found_double_encoded: 1 }],
  ['gÄ©thaka', { found_double_encoded: 1 }],
  ['piâ€™ny', { found_double_encoded: 1 }],
  ['erokamano \ufffd', { found_double_encoded: 1 }],
  ['erokamano [cs] ahinya', { found_tags: 1 }],
  ['erokamano <unk> ahinya', { found_tags: 1 }],
  ['erokamano (onyiero)', { found_tags: 1 }],
  ['jii 12 nobiro', { found_digits: 1 }],
  ['...', { found_no_words: 1 }],
  ['angwen e ma nitie kae', { found_lost_apostrophe: 1 }],
  ['Nyathi adek nobiro kawuono', { found_same_sentence: 2 }],
  ['Mĩthithĩ ya mũgũnda', {}],
])('%j gives %j', async (text, expected) => {
  await clean();
  await record(text);
  expect(await found()).toEqual(expected);
});

test('names the recordings, five at most, and never their text', async () => {
  for (let at = 0; at < 7; at += 1) await record(`jii ${at} nobiro ka${'a'.repeat(at)}`);
  const findings = await checkRecordings({ folder, recordings, training: [] });
  expect(presentFindings(findings)).toBe(
    'problem: 7 × digits in the text: write numbers as they are spoken ' +
      '(luo-0, luo-1, luo-2, luo-3, luo-4 and 2 more)',
  );
});

test('finds the same audio under two names', async () => {
  await clean();
  await record('gimoro machielo', { wave: recordings[2]?.wave ?? new Float32Array(0) });
  expect(await found()).toEqual({ found_same_audio: 2 });
});

test('finds sentences and speakers of a NeMo manifest, a table, a folder and a text file', async () => {
  await clean();
  const [nemo, table] = [join(training, 'train.json'), join(training, 'train.tsv')];
  await writeFile(nemo, '{"text":"nyathi adek nobiro kawuono","speaker":"speaker 5"}\n');
  expect(await found(nemo)).toEqual({
    found_sentence_in_training: 1,
    found_speaker_in_training: 1,
  });
  await writeFile(
    table,
    'path\tsentence\tclient_id\na.mp3\tNyathi ariyo nobiro kawuono!\tspeaker 0\n',
  );
  expect(await found(table)).toEqual({
    found_sentence_in_training: 1,
    found_speaker_in_training: 1,
  });
  expect(await found(folder)).toEqual({ found_sentence_in_training: 6 });
  const text = join(training, 'lines.txt');
  await writeFile(text, 'nyathi abich nobiro kawuono\n\nnyathi adek nobiro kawuono\n');
  expect(await found(text, nemo)).toEqual({
    found_sentence_in_training: 2,
    found_speaker_in_training: 1,
  });
});

test('refuses training material that it cannot read, naming the line and not its text', async () => {
  await clean();
  const nemo = join(training, 'train.json');
  await writeFile(nemo, '{"text":"nyathi"}\n{"audio_filepath":"siri.wav"}\n');
  await expect(found(nemo)).rejects.toThrow(`${nemo}:2 is not a line of a NeMo manifest`);
  await expect(found(join(training, 'nothing'))).rejects.toThrow('cannot be read');
});

test('notes unknown speakers and too few of them', async () => {
  await record('erokamano', { speaker: 'unknown' });
  expect(await found()).toEqual({ found_unknown_speaker: 1 });
  recordings = [];
  await record('erokamano');
  expect(await found()).toEqual({ found_few_speakers: 1 });
});

test('finds clips that were cut inside a word, and no whole one among the fixtures', async () => {
  const fixtures = await readFixtures();
  expect(fixtures.filter(({ wave }) => isCutInSpeech(wave))).toEqual([]);
  const vowel = Float32Array.from({ length: 16_000 }, (_, at) => 0.3 * Math.sin(at / 10));
  const faded = vowel.map((sample, at) => sample * Math.min(1, at / 1_000, (15_999 - at) / 1_000));
  expect(isCutInSpeech(faded)).toBe(false);
  expect(isCutInSpeech(faded.subarray(0, 12_000))).toBe(true);
  expect(isCutInSpeech(faded.subarray(4_000))).toBe(true);
  expect(isCutInSpeech(new Float32Array(16_000))).toBe(false);
  expect(isCutInSpeech(new Float32Array(0))).toBe(false);
});
