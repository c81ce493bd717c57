import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { beforeEach, expect, test } from 'vitest';
import { loadManifests } from '../src/index.ts';
import { FRAME, type FrameHeader } from '../src/pool/frames.ts';
import { Recogniser } from '../src/recognisers/sherpa-recogniser.ts';
import { Scheduler } from '../src/pool/scheduler.ts';
import { MODELS_DIR, speech } from '@svc-asr/testing/speech/fixtures.ts';

const manifest = (await loadManifests(MODELS_DIR)).get('svc-asr-kikuyu-v1');
if (manifest?.kind !== 'transducer') throw new Error('no transducer');
const { files, language } = manifest;
const recogniser = new Recogniser({ files, batchSafe: true });
const chunk = Buffer.from(speech('kikuyu-2').pcm.slice(0, CHUNK_SAMPLES * 2));
const [FAST, LIVE] = [1, 2];
const CHUNK_MS = 1_120;
const SECOND = Buffer.from(speech('kikuyu-2').pcm.slice(0, 32_000));

let scheduler: Scheduler;
/** Moved by hand, so that chunks never become due because the machine is slow. */
let nowMs: number;
let sent: FrameHeader[];
/** Streams whose words were sent. */
let said: (number | undefined)[];
beforeEach(() => {
  [sent, said] = [[], []];
  nowMs = 1_000_000;
  scheduler = new Scheduler(
    (header, payload) => {
      sent.push(header);
      if (payload !== undefined) said.push(header.stream);
    },
    () => nowMs,
  );
  scheduler.open(FAST, { recognition: recogniser, language });
  scheduler.open(LIVE, { recognition: recogniser, language });
  sent = [];
});

/** Returns the streams whose chunks one round decoded. */
function round(): (number | undefined)[] {
  sent = [];
  void scheduler.round();
  return sent.map(({ stream }) => stream);
}

test("decodes a live chunk before a fast sender's queue, in a separate batch", () => {
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

test('a chunk in two parts waits for the second and returns one credit', () => {
  scheduler.audio(LIVE, chunk.subarray(0, 30_000));
  expect(scheduler.idle).toBe(true);
  scheduler.audio(LIVE, chunk.subarray(30_000));
  expect(round()).toEqual([LIVE]);
  expect(sent.map(({ credits }) => credits)).toEqual([1]);
  expect(scheduler.idle).toBe(true);
});

test('decodes replayed audio before live audio, however much of it there is', () => {
  const REPLAYED = 3;
  scheduler.open(REPLAYED, { recognition: recogniser, language, replayBytes: 12 * chunk.length });
  for (let times = 0; times < 12; times += 1) scheduler.audio(FAST, chunk);
  for (let times = 0; times < 5; times += 1) void scheduler.round();
  for (let times = 0; times < 12; times += 1) scheduler.audio(REPLAYED, chunk);
  scheduler.audio(LIVE, chunk);
  expect(round()).toEqual([REPLAYED, LIVE]);
  for (let times = 0; times < 11; times += 1) expect(round()).toEqual([REPLAYED]);
  expect(round()).toEqual([FAST]);
});

test('treats a stream as live again after its replay', () => {
  const REPLAYED = 3;
  scheduler.open(REPLAYED, { recognition: recogniser, language, replayBytes: 12 * chunk.length });
  for (let times = 0; times < 13; times += 1) scheduler.audio(REPLAYED, chunk);
  for (let times = 0; times < 12; times += 1) void scheduler.round();
  said = [];
  expect(round()).toEqual([REPLAYED]);
  expect(said).toEqual([REPLAYED]);
});

test('on a busy child, a stream whose flush needed an extra decode waits for live ones', () => {
  const FLUSHING = 3;
  scheduler.open(FLUSHING, { recognition: recogniser, language });
  for (let times = 0; times < 12; times += 1) scheduler.audio(FAST, chunk);
  for (let times = 0; times < 5; times += 1) void scheduler.round();
  scheduler.audio(FLUSHING, SECOND);
  scheduler.flush(FLUSHING);
  for (let decodes = 0; decodes < 2; decodes += 1)
    expect(new Set(round())).toEqual(new Set([FLUSHING]));
  scheduler.audio(FLUSHING, chunk);
  scheduler.audio(LIVE, chunk);
  expect(round()).toEqual([LIVE]);
  expect(round()).toEqual([FLUSHING]);
});

test('sends the final together with the last decode', () => {
  scheduler.audio(LIVE, SECOND);
  scheduler.flush(LIVE);
  void round();
  void round();
  expect(sent.map(({ type }) => type)).toEqual([FRAME.decoded, FRAME.final]);
  expect(scheduler.idle).toBe(true);
});

test('decodes a final before words that were due earlier, in a batch of its own', () => {
  scheduler.audio(FAST, chunk);
  nowMs += 100;
  scheduler.audio(LIVE, chunk.subarray(0, 20_000));
  scheduler.audio(LIVE, chunk);
  scheduler.flush(LIVE);
  expect(new Set(round())).toEqual(new Set([LIVE]));
  expect(round()).toContain(LIVE);
  expect(sent.map(({ type }) => type)).toContain(FRAME.final);
  expect(round()).toEqual([FAST]);
});

test('fills the batch of a final while more streams wait than fit into one', () => {
  const nine = Array.from({ length: 9 }, (_, at) => 10 + at);
  for (const id of nine) {
    scheduler.open(id, { recognition: recogniser, language });
    scheduler.audio(id, chunk);
  }
  nowMs += 100;
  scheduler.audio(LIVE, chunk);
  scheduler.flush(LIVE);
  expect(round()).toEqual([LIVE, ...nine.slice(0, 7)]);
});

test('a short utterance every five seconds stays as prompt as live speech', () => {
  for (let turn = 0; turn < 20; turn += 1) {
    nowMs += 5_000;
    scheduler.audio(FAST, SECOND);
    scheduler.flush(FAST);
    while (!scheduler.idle) void scheduler.round();
  }
  scheduler.audio(LIVE, chunk);
  scheduler.audio(FAST, chunk);
  expect(new Set(round())).toEqual(new Set([FAST, LIVE]));
});

test('a stream that used too much still gets a decode within seconds on a saturated child', () => {
  const owed = new Map(Array.from({ length: 20 }, (_, at) => [10 + at, 0]));
  for (const id of owed.keys()) scheduler.open(id, { recognition: recogniser, language });
  for (let times = 0; times < 40; times += 1) scheduler.audio(FAST, chunk);
  while (!scheduler.idle) void scheduler.round();
  scheduler.audio(FAST, chunk);
  const beganMs = nowMs;
  let decoded: (number | undefined)[] = [];
  while (!decoded.includes(FAST)) {
    nowMs += CHUNK_MS;
    // More people speak than the child can serve, and each may have two chunks there.
    for (const [id, chunks] of owed) {
      if (chunks < 2) scheduler.audio(id, chunk);
      owed.set(id, Math.min(2, chunks + 1));
    }
    decoded = round();
    for (const id of decoded) owed.set(id ?? 0, (owed.get(id ?? 0) ?? 1) - 1);
    expect(nowMs - beganMs).toBeLessThan(7_500);
  }
});

test('decodes eight waiting chunks in one batch', () => {
  const eight = Array.from({ length: 8 }, (_, at) => 10 + at);
  for (const id of eight) {
    expect(scheduler.full).toBe(false);
    scheduler.open(id, { recognition: recogniser, language });
    scheduler.audio(id, chunk);
  }
  expect(scheduler.full).toBe(true);
  expect(round()).toEqual(eight);
});

test('sends words to a fast sender every fourth chunk and when idle', () => {
  for (let times = 0; times < 5; times += 1) scheduler.audio(FAST, chunk);
  for (let times = 0; times < 3; times += 1) void scheduler.round();
  expect(said).toEqual([]);
  void scheduler.round();
  expect(said).toEqual([FAST]);
  void scheduler.round();
  expect(said).toEqual([FAST]);
  expect(scheduler.hasPostponed).toBe(true);
  scheduler.sendPostponed();
  expect(said).toEqual([FAST, FAST]);
  expect(scheduler.hasPostponed).toBe(false);
});

test('sends words to a live sender with every chunk', () => {
  scheduler.audio(LIVE, chunk);
  void scheduler.round();
  expect(said).toEqual([LIVE]);
});

test.each(['flush', 'reset', 'close'] as const)('postponed words are dropped by %s', (act) => {
  for (let times = 0; times < 5; times += 1) scheduler.audio(FAST, chunk);
  for (let times = 0; times < 5; times += 1) void scheduler.round();
  scheduler[act](FAST);
  expect(scheduler.hasPostponed).toBe(false);
});

test('every chunk and flush returns its credit once, with or without a reset', () => {
  for (let times = 0; times < 3; times += 1) scheduler.audio(FAST, chunk);
  void scheduler.round();
  scheduler.reset(FAST);
  scheduler.audio(FAST, chunk);
  scheduler.audio(FAST, chunk.subarray(0, 1_000));
  scheduler.flush(FAST);
  while (!scheduler.idle) void scheduler.round();
  expect(sent.reduce((sum, { credits = 0 }) => sum + credits, 0)).toBe(5);
  const finals = sent.filter(({ type }) => type === FRAME.final);
  expect(finals.map(({ utterance }) => utterance)).toEqual([1]);
});

test('a closed stream sends no more events', () => {
  scheduler.audio(FAST, chunk);
  scheduler.flush(FAST);
  scheduler.close(FAST);
  expect(scheduler.idle).toBe(true);
  scheduler.audio(FAST, chunk);
  scheduler.flush(FAST);
  scheduler.reset(FAST);
  expect(round()).toEqual([]);
});

test('decodes audio that begins at an odd byte of the read buffer', () => {
  const buffer = Buffer.allocUnsafeSlow(chunk.length + 1);
  chunk.copy(buffer, 1);
  const odd = buffer.subarray(1);
  expect(odd.byteOffset % 2).toBe(1);
  scheduler.audio(LIVE, odd);
  void scheduler.round();
  expect(sent.at(-1)).toMatchObject({ type: FRAME.decoded, stream: LIVE, credits: 1 });
});
