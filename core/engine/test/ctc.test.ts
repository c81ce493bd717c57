import { rm } from 'node:fs/promises';
import { CHUNK_SAMPLES, MODEL_IDS } from '@svc-asr/protocol';
import { toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { finals, read } from '@svc-asr/testing/speech/event-reader.ts';
import { SPEECH, speech } from '@svc-asr/testing/speech/fixtures.ts';
import { STAND_IN, standInModels } from '@svc-asr/testing/speech/stand-in.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CtcRecogniser } from '../src/recognisers/ctc-recogniser.ts';
import { liveStreamsPerChild } from '../src/recognisers/live-streams.ts';
import { EngineBusy, startSherpaEngine, type SherpaEngine } from '../src/index.ts';
import { FRAME } from '../src/pool/frames.ts';
import { Scheduler } from '../src/pool/scheduler.ts';

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

test('a look at the utterance so far has the text of its final, and changes nothing', async () => {
  expect(engine.describe(MODEL).canPeek).toBe(true);
  const stream = await engine.open({ model: MODEL, signal: never });
  const reading = read(stream);
  const { pcm } = speech('kikuyu-1');
  const half = 2 * Math.floor(pcm.byteLength / 4);
  await stream.write(pcm.slice(0, half));
  const early = await stream.peek?.();
  await stream.write(pcm.slice(half));
  const whole = await stream.peek?.();
  stream.flush();
  await stream.write(pcm.slice());
  stream.flush();
  const [peeked, plain] = finals(await reading.until('final', 2));
  expect(peeked).toBe(plain);
  expect(whole?.text).toBe(plain);
  expect(plain?.length).toBeGreaterThan(early?.text.length ?? Infinity);
  const late = stream.peek?.();
  stream.flush();
  expect(await late).toBeNull();
  await stream.close();
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

test.each([
  [660, 1],
  [440, 2],
  [5_000, 1],
  [25, 35],
  [0, 8_960],
])('a window of %i ms of processor time allows %i live streams a core', (windowCpuMs, streams) => {
  const load = 0.8;
  expect(liveStreamsPerChild({ cpuMsPerChunk: windowCpuMs, threads: 1, load })).toBe(streams);
});

test('accepts as many streams as its measured cost allows, and then none', async () => {
  const { capacity } = engine.health();
  expect(capacity).toBeGreaterThanOrEqual(1);
  const open = () => engine.open({ model: MODEL, signal: never });
  const streams = await Promise.all(Array.from({ length: capacity }, open));
  await expect(open()).rejects.toThrow(EngineBusy);
  await Promise.all(streams.map((stream) => stream.close()));
});

test("encodes a live stream's chunk before a fast sender's queue, one window per round", async () => {
  const [FAST, LIVE] = [1, 2];
  const decoded: (number | undefined)[] = [];
  // Time stands still, so chunks that are not due don't become due.
  const scheduler = new Scheduler(
    ({ type, stream }) => void (type === FRAME.decoded && decoded.push(stream)),
    () => 1_000_000,
  );
  for (const id of [FAST, LIVE]) scheduler.open(id, { recognition: recogniser, language: '' });
  const chunk = Buffer.from(speech('kikuyu-2').pcm.slice(0, 2 * CHUNK_SAMPLES));
  for (let times = 0; times < 12; times += 1) scheduler.audio(FAST, chunk);
  for (let times = 0; times < 5; times += 1) await scheduler.round();
  scheduler.audio(LIVE, chunk);
  await scheduler.round();
  await scheduler.round();
  expect(decoded).toEqual([FAST, FAST, FAST, FAST, FAST, LIVE, FAST]);
});
