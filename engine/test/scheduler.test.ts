import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { beforeEach, expect, test } from 'vitest';
import { loadManifests } from '../src/index.ts';
import { FRAME, type FrameHeader } from '../src/sherpa/frames.ts';
import { Recogniser } from '../src/sherpa/recogniser.ts';
import { Scheduler } from '../src/sherpa/scheduler.ts';
import { MODELS_DIR, speech } from './speech.ts';

const manifest = (await loadManifests(MODELS_DIR)).get('svc-asr-kikuyu-v1');
if (manifest === undefined) throw new Error('no manifest');
const { files, language } = manifest;
const recogniser = new Recogniser({ files, batching: true });
const chunk = Buffer.from(speech('kikuyu-2').pcm.slice(0, CHUNK_SAMPLES * 2));
const [FAST, LIVE] = [1, 2];
/** Time stands still: however slow the machine, what is not due does not become due. */
const NOW_MS = 1_000_000;

let scheduler: Scheduler;
let sent: FrameHeader[];
/** Whose words were sent. */
let said: (number | undefined)[];
beforeEach(() => {
  [sent, said] = [[], []];
  scheduler = new Scheduler(
    (header, payload) => {
      sent.push(header);
      if (payload !== undefined) said.push(header.stream);
    },
    () => NOW_MS,
  );
  scheduler.open(FAST, recogniser, language);
  scheduler.open(LIVE, recogniser, language);
  sent = [];
});

/** Whose chunks one round decoded. */
function round(): (number | undefined)[] {
  sent = [];
  scheduler.round();
  return sent.map(({ stream }) => stream);
}

test('a live chunk goes before all that a fast sender has queued, and is not batched with it', () => {
  for (let times = 0; times < 12; times += 1) scheduler.audio(FAST, chunk);
  for (let times = 0; times < 5; times += 1) expect(round()).toEqual([FAST]);
  scheduler.audio(LIVE, chunk);
  expect(round()).toEqual([LIVE]);
  expect(round()).toEqual([FAST]);
});

test('chunks that are due together are decoded together', () => {
  scheduler.audio(FAST, chunk);
  scheduler.audio(LIVE, chunk);
  expect(new Set(round())).toEqual(new Set([FAST, LIVE]));
  expect(scheduler.idle).toBe(true);
});

test('a chunk that comes in two parts waits for the second and gives one credit back', () => {
  scheduler.audio(LIVE, chunk.subarray(0, 30_000));
  expect(scheduler.idle).toBe(true);
  scheduler.audio(LIVE, chunk.subarray(30_000));
  expect(round()).toEqual([LIVE]);
  expect(sent.map(({ credits }) => credits)).toEqual([1]);
  expect(scheduler.idle).toBe(true);
});

test('eight that wait are a full batch, and are decoded together', () => {
  const eight = Array.from({ length: 8 }, (_, at) => 10 + at);
  for (const id of eight) {
    expect(scheduler.full).toBe(false);
    scheduler.open(id, recogniser, language);
    scheduler.audio(id, chunk);
  }
  expect(scheduler.full).toBe(true);
  expect(round()).toEqual(eight);
});

test('words of a fast sender come with every fourth chunk, and when there is nothing to decode', () => {
  for (let times = 0; times < 5; times += 1) scheduler.audio(FAST, chunk);
  for (let times = 0; times < 3; times += 1) scheduler.round();
  expect(said).toEqual([]);
  scheduler.round();
  expect(said).toEqual([FAST]);
  scheduler.round();
  expect(said).toEqual([FAST]);
  expect(scheduler.unsaid).toBe(true);
  scheduler.sayUnsaid();
  expect(said).toEqual([FAST, FAST]);
  expect(scheduler.unsaid).toBe(false);
});

test('words of a live sender come with every chunk', () => {
  scheduler.audio(LIVE, chunk);
  scheduler.round();
  expect(said).toEqual([LIVE]);
});

test.each(['flush', 'reset', 'close'] as const)('words that a %s overtakes are not said', (act) => {
  for (let times = 0; times < 5; times += 1) scheduler.audio(FAST, chunk);
  for (let times = 0; times < 5; times += 1) scheduler.round();
  scheduler[act](FAST);
  expect(scheduler.unsaid).toBe(false);
});

test('every chunk and every flush gives its credit back once, reset or not', () => {
  for (let times = 0; times < 3; times += 1) scheduler.audio(FAST, chunk);
  scheduler.round();
  scheduler.reset(FAST);
  scheduler.audio(FAST, chunk);
  scheduler.audio(FAST, chunk.subarray(0, 1_000));
  scheduler.flush(FAST);
  while (!scheduler.idle) scheduler.round();
  expect(sent.reduce((sum, { credits = 0 }) => sum + credits, 0)).toBe(5);
  const finals = sent.filter(({ type }) => type === FRAME.final);
  expect(finals.map(({ utterance }) => utterance)).toEqual([1]);
});

test('a closed stream says nothing more, whatever it had queued', () => {
  scheduler.audio(FAST, chunk);
  scheduler.flush(FAST);
  scheduler.close(FAST);
  expect(scheduler.idle).toBe(true);
  scheduler.audio(FAST, chunk);
  scheduler.flush(FAST);
  scheduler.reset(FAST);
  expect(round()).toEqual([]);
});
