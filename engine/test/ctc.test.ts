import { rm } from 'node:fs/promises';
import { CHUNK_SAMPLES, MODEL_IDS } from '@svc-asr/protocol';
import { toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { finals, read } from '@svc-asr/testing/speech/event-reader.ts';
import { SPEECH, speech } from '@svc-asr/testing/speech/fixtures.ts';
import { STAND_IN, standInModels } from '@svc-asr/testing/speech/stand-in.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CtcRecogniser } from '../src/ctc/ctc-recogniser.ts';
import { startSherpaEngine, type SherpaEngine } from '../src/index.ts';

const never = new AbortController().signal;
const [MODEL] = MODEL_IDS;
let models = '';
let engine: SherpaEngine;
let recogniser: CtcRecogniser;
beforeAll(async () => {
  models = standInModels();
  engine = await startSherpaEngine({ modelsDir: models, children: 1 });
  recogniser = await CtcRecogniser.load(STAND_IN);
});
afterAll(async () => {
  await engine.close();
  await rm(models, { recursive: true });
});

test.each([0, 1, 399, 400, 1_600])('%i samples get a final and crash nothing', async (samples) => {
  const [child] = engine.children();
  const stream = await engine.open({ model: MODEL, signal: never });
  const reading = read(stream);
  if (samples > 0) await stream.write(new Uint8Array(2 * samples));
  stream.flush();
  expect(await reading.until('final')).toMatchObject([{ samples, text: '' }]);
  await stream.write(speech('kikuyu-1').pcm.slice());
  stream.flush();
  expect(finals(await reading.until('final', 2)).at(-1)).not.toBe('');
  await stream.close();
  expect(engine.children()).toMatchObject([{ pid: child?.pid }]);
});

test('recognises the fixtures, with a confidence for each word', async () => {
  const wrong: string[] = [];
  for (const { model, pcm, expected } of SPEECH) {
    const stream = await engine.open({ model, signal: never });
    const reading = read(stream);
    await stream.write(pcm.slice());
    stream.flush();
    const [final] = await reading.until('final');
    if (final?.type !== 'final') throw new Error('no final');
    for (const { confidence } of final.words) {
      expect(confidence).toBeGreaterThanOrEqual(0);
      expect(confidence).toBeLessThanOrEqual(1);
    }
    const heard = final.text.split(' ');
    wrong.push(...expected.split(' ').filter((word) => !heard.includes(word)));
    await stream.close();
  }
  expect(wrong.length).toBeLessThan(24);
});

test('encodes at most four seconds for each second of audio', async () => {
  const utterance = recogniser.begin();
  const { samples } = toUtterance(speech('dholuo-2'));
  for (let turn = 0; turn < 8; turn += 1) {
    for (let at = 0; at + CHUNK_SAMPLES <= samples.length; at += CHUNK_SAMPLES) {
      utterance.accept(samples.subarray(at, at + CHUNK_SAMPLES));
      while (utterance.ready) await utterance.decode();
    }
  }
  expect(utterance.encodedSamples / utterance.samples).toBeLessThanOrEqual(4);
});

test('accepts as many streams as its measured cost allows', () => {
  expect(recogniser.liveStreams).toBeGreaterThanOrEqual(1);
  const { capacity } = engine.health();
  expect(capacity).toBeGreaterThanOrEqual(1);
  expect(capacity).toBeLessThanOrEqual(100);
});
