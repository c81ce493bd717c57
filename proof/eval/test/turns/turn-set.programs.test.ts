import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { powerOf, seededRandom } from '../../src/conditions.ts';
import { converse } from '../../src/turns/conversation.ts';
import { phrasesOf, SPEECH_DB } from '../../src/turns/phrases.ts';
import { CONDITIONS, WITHOUT_SPEECH } from '../../src/turns/turn-conditions.ts';
import { recordingsOf, voicesIn, voicesOf } from '../../src/turns/voices.ts';

const RATE = 16_000;

/** Tones of half a second at these seconds, in a quiet room. */
function recording(seconds: number, ...starts: number[]): Float32Array {
  const random = seededRandom(3);
  return Float32Array.from({ length: seconds * RATE }, (_, at) => {
    const t = at / RATE;
    const speaking = starts.some((start) => t >= start && t < start + 0.5);
    return 1e-4 * (random() - 0.5) + (speaking ? 0.2 * Math.sin(2 * Math.PI * 200 * t) : 0);
  });
}

test('cuts a recording into its phrases, to 10 ms, at one level', () => {
  const phrases = phrasesOf('someone', recording(4, 0.5, 2));
  expect(phrases).toHaveLength(2);
  for (const { wave } of phrases) {
    expect(Math.abs(wave.length - RATE / 2)).toBeLessThanOrEqual(2 * 160);
    expect(10 * Math.log10(powerOf(wave))).toBeCloseTo(SPEECH_DB, 0);
  }
});

test('leaves out recordings whose noise hides the ends of phrases', () => {
  const random = seededRandom(4);
  const noisy = recording(4, 0.5).map((sample) => sample + 0.01 * (random() - 0.5));
  expect(phrasesOf('someone', noisy)).toEqual([]);
});

test('leaves out phrases with breath or the room at their edges', () => {
  const random = seededRandom(4);
  const breathing = recording(4, 0.5, 2).map((sample, at) =>
    at > 2.5 * RATE && at < 2.8 * RATE ? 0.01 * (random() - 0.5) : sample,
  );
  expect(phrasesOf('someone', breathing)).toHaveLength(1);
});

const PHRASES = phrasesOf('someone', recording(4, 0.5, 2));
const OPTIONS = { voice: 'someone', letters: false, seconds: 10, seed: 5 };

test('knows the first and last sample of each phrase in a conversation', () => {
  const { wave, phrases } = converse(PHRASES, OPTIONS);
  expect(phrases.length).toBeGreaterThan(2);
  for (const { start, end } of phrases) {
    expect(powerOf(wave.subarray(start, end))).toBeGreaterThan(1e-3);
    expect(powerOf(wave.subarray(end, end + RATE / 10))).toBe(0);
  }
});

test('lets two voices take turns, the second one quieter', async () => {
  const answers = PHRASES.map((phrase) => ({ ...phrase, voice: 'someone else' }));
  const dialogue = converse(PHRASES, { ...OPTIONS, answers });
  const said = dialogue.phrases.map(({ second }) => second);
  expect(new Set(said)).toEqual(new Set([false, true]));
  const sounds = { phrases: [], music: [], alerts: [] };
  for (const [name, db] of [
    ['second speaker 6 dB quieter', 6],
    ['second speaker 10 dB quieter', 10],
  ] as const) {
    const condition = CONDITIONS.find((each) => each.name === name);
    const heard = await condition?.disturb(dialogue, seededRandom(1), sounds);
    for (const { start, end, second } of dialogue.phrases) {
      const [before, after] = [dialogue.wave, heard].map((wave) =>
        powerOf(wave?.subarray(start, end) ?? new Float32Array(1)),
      );
      const change = 10 * Math.log10((after ?? 0) / (before ?? 1));
      expect(change).toBeCloseTo(second === true ? -db : 0, 0);
    }
  }
});

test.each(CONDITIONS)('makes the same samples of $name each time', async ({ disturb }) => {
  const conversation = converse(PHRASES, OPTIONS);
  const sounds = {
    phrases: PHRASES.map((phrase) => ({ ...phrase, voice: 'someone else' })),
    music: [recording(2, 0.5)],
    alerts: [recording(1, 0.2)],
  };
  const once = await disturb(conversation, seededRandom(1), sounds);
  expect(once).toHaveLength(conversation.wave.length);
  expect(once.every(Number.isFinite)).toBe(true);
  expect(once).toEqual(await disturb(conversation, seededRandom(1), sounds));
  expect(once).not.toEqual(conversation.wave);
});

test('makes sounds without speech', () => {
  const sounds = { phrases: [], music: [recording(2, 0.5)], alerts: [recording(1, 0.2)] };
  for (const make of WITHOUT_SPEECH.values()) {
    expect(powerOf(make(RATE * 5, seededRandom(1), sounds))).toBeGreaterThan(0);
  }
});

/** Folders and, of volunteers, languages. */
function partsOf(half: 'design' | 'held-out'): string[] {
  return voicesOf(half).flatMap(({ name, folders }) => [
    ...folders,
    ...(name.match(/^(?:words|letters)-(.+)$/)?.slice(1) ?? []),
  ]);
}

test('holds voices out: no recording and no language of volunteers is in both halves', () => {
  const heldOut = new Set(partsOf('held-out'));
  expect(partsOf('design').filter((part) => heldOut.has(part))).toEqual([]);
});

test('takes voices of your own from a folder of recordings for each', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'voices-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await expect(voicesIn(folder)).rejects.toThrow('needs a folder of recordings per voice');
  await mkdir(join(folder, 'wanjiru'));
  await mkdir(join(folder, 'achieng'));
  await writeFile(join(folder, 'wanjiru', 'one.wav'), '');
  const [achieng, wanjiru] = await voicesIn(folder);
  expect(wanjiru).toMatchObject({ name: 'wanjiru', half: 'held-out' });
  if (achieng === undefined || wanjiru === undefined) throw new Error('Voices are missing.');
  expect(await recordingsOf(wanjiru)).toEqual([join(folder, 'wanjiru', 'one.wav')]);
  await expect(recordingsOf(achieng)).rejects.toThrow('no recordings of the voice achieng');
});
