import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addTo, characterErrorRate, emptyScore } from '../src/scoring.ts';
import { readFixtures, readFolder } from '../src/sets.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'eval-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

function wav(input: { rate?: number } = {}): Buffer {
  const rate = input.rate ?? 16_000;
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(4, 40);
  const samples = Buffer.alloc(4);
  samples.writeInt16LE(16_384, 0);
  return Buffer.concat([head, samples]);
}

test('reads recordings with their normalised text', async () => {
  await writeFile(join(folder, 'ki-one.wav'), wav());
  await writeFile(join(folder, 'ki-one.txt'), 'Nī wega!\n');
  const [utterance] = await readFolder(folder);
  expect(utterance).toMatchObject({ name: 'ki-one', language: 'ki', spoken: 'nĩ wega' });
  expect(utterance?.wave).toEqual(Float32Array.from([0.5, 0]));
});

test('accepts the language as an option instead of in file names', async () => {
  await writeFile(join(folder, 'one.wav'), wav());
  await writeFile(join(folder, 'one.txt'), 'ber');
  expect((await readFolder(folder, 'luo'))[0]?.language).toBe('luo');
  await expect(readFolder(folder)).rejects.toThrow('--language');
});

test('names unusable files and says what to do', async () => {
  await expect(readFolder(folder)).rejects.toThrow('no .wav files');
  await writeFile(join(folder, 'ki-a.wav'), wav({ rate: 44_100 }));
  await expect(readFolder(folder)).rejects.toThrow('no .txt');
  await writeFile(join(folder, 'ki-a.txt'), 'ee');
  await expect(readFolder(folder)).rejects.toThrow('ffmpeg -i');
  await writeFile(join(folder, 'ki-a.wav'), 'no audio');
  await expect(readFolder(folder)).rejects.toThrow('not a WAV file');
});

test("the project's fixtures are four sentences of each language", async () => {
  const fixtures = await readFixtures();
  expect(fixtures.map((one) => one.language)).toEqual([
    ...Array<string>(4).fill('luo'),
    ...Array<string>(4).fill('ki'),
  ]);
  expect(fixtures.every((one) => one.wave.length > 16_000 && one.spoken !== '')).toBe(true);
});

test('the recorded transcripts of the fixtures differ from their texts by at most one letter in twenty', async () => {
  const score = emptyScore();
  for (const { name, spoken } of await readFixtures()) {
    const record = join(import.meta.dirname, `../../../core/models/fixtures/${name}.expected.txt`);
    addTo(score, { spoken, recognised: await readFile(record, 'utf8') });
  }
  expect(characterErrorRate(score)).toBeLessThanOrEqual(5);
});
