import { expect, test } from 'vitest';
import { render } from './tools/export-run.ts';
import { splitKeyterms, toAnswer } from './keyterms.ts';
import {
  estimateMs,
  follow,
  IDLE,
  isUncertain,
  leftMs,
  usedMs,
  type Run,
  type RunEvent,
} from './run.ts';
import { WordAges } from './word-ages.ts';

const delta = (text: string, audio_ms: number): RunEvent => ({
  type: 'delta',
  delta: { type: 'delta', text, utterance: 0, stable_chars: 3, audio_ms },
  audioMs: audio_ms,
});
const final = (text: string, total_audio_ms: number): RunEvent => ({
  type: 'final',
  final: {
    type: 'final',
    text,
    utterance: 0,
    reason: 'flush',
    start_ms: 0,
    end_ms: total_audio_ms,
    words: text
      .split(' ')
      .map((word, at) => ({ text: word, start_ms: at, end_ms: at + 1, confidence: 0.9 - at / 2 })),
    audio_ms: total_audio_ms,
    total_audio_ms,
    billable_ms: Math.ceil(total_audio_ms / 1_000) * 1_000,
  },
  ages: null,
  speed: null,
});
const started: RunEvent = {
  type: 'started',
  model: 'svc-asr-kikuyu-v1',
  source: 'microphone',
  continues: false,
};
const settled = (audio_ms: number, billable_ms: number, available_ms: number): RunEvent => ({
  type: 'settled',
  receipt: { status: 'completed', settled: true, audio_ms, billable_ms, available_ms },
});
const after = (...events: RunEvent[]): Run => events.reduce(follow, IDLE);

test('replaces each delta with the next; a final completes the utterance', () => {
  const run = after(
    started,
    { type: 'ready', takesKeyterms: true },
    delta('nĩ we', 1_120),
    delta('nĩ wega', 2_240),
    final('nĩ wega', 2_400),
  );
  expect(run).toMatchObject({ phase: 'listening', text: '', audioMs: 2_400 });
  expect(run.turns.map((turn) => turn.map(({ text }) => text))).toEqual([['nĩ', 'wega']]);
  // Only the ledger knows the charge.
  expect(run.chargedMs).toBeNull();
});

test('an eager end shows its text until the speaker goes on or the final arrives', () => {
  const words = { utterance: 0, eager: 1, words: [], audio_ms: 2_400 };
  const event: RunEvent = {
    type: 'eager',
    eager: { type: 'turn_eager', text: 'ngiri igĩrĩ', text_formatted: '2000', ...words },
  };
  const paused = after(started, delta('ngiri', 1_120), event, delta('ngiri igĩ', 2_240));
  expect(paused).toMatchObject({ text: 'ngiri igĩ', eagerText: '2000' });
  expect(follow(paused, { type: 'resumed' })).toMatchObject({ text: 'ngiri igĩ', eagerText: null });
  expect(follow(paused, final('ngiri igĩrĩ', 2_400))).toMatchObject({ text: '', eagerText: null });
});

test('keeps one line per turn and skips turns without words', () => {
  const run = after(started, final('nĩ wega', 2_400), final('', 3_000), final('mũno', 5_000));
  expect(run.turns.map((turn) => turn.map(isUncertain))).toEqual([[false, true], [false]]);
});

test('takes charge and credit from the ledger, whatever the page believed', () => {
  const reserved: RunEvent = { type: 'reserved', remainingMs: 3_540_000, reservedMs: 60_000 };
  const failed: RunEvent = { type: 'failed', code: 'connection_lost', message: 'x' };
  const run = after(
    started,
    reserved,
    { type: 'ready', takesKeyterms: true },
    final('nĩ wega', 2_400),
    failed,
    {
      type: 'asking',
    },
  );
  expect(run).toMatchObject({ phase: 'failed', ledger: 'asking', chargedMs: null });
  expect(follow(run, settled(0, 0, 3_600_000))).toMatchObject({
    phase: 'failed',
    ledger: 'settled',
    chargedMs: 0,
    remainingMs: 3_600_000,
  });
});

test('the credit left and the charge so far add up during a run, and it is unknown until the ledger has settled', () => {
  const reserved: RunEvent = { type: 'reserved', remainingMs: 3_540_000, reservedMs: 60_000 };
  const running = after(started, reserved, { type: 'ready', takesKeyterms: true });
  expect(leftMs(running)).toBe(3_600_000);
  const speaking = follow(running, delta('nĩ', 1_120));
  expect([estimateMs(speaking), leftMs(speaking)]).toEqual([2_000, 3_598_000]);
  const lost = follow(speaking, { type: 'failed', code: 'connection_lost', message: 'x' });
  expect(leftMs(lost)).toBeNull();
  expect(leftMs(follow(lost, settled(3_000, 3_000, 3_597_000)))).toBe(3_597_000);
});

test('continues after the limit: the transcript, its times and the charge add up', () => {
  const reserved: RunEvent = { type: 'reserved', remainingMs: 60_000, reservedMs: 30_000 };
  const limit: RunEvent = { type: 'ended', ending: 'limit' };
  const run = after(
    started,
    reserved,
    final('nĩ wega', 30_000),
    limit,
    settled(30_000, 30_000, 60_000),
    { ...started, continues: true },
    final('mũno', 1_000),
    { type: 'ended', ending: 'stopped' },
    settled(1_000, 1_000, 59_000),
  );
  expect(run).toMatchObject({ phase: 'done', earlierMs: 30_000, earlierChargedMs: 30_000 });
  expect(run.turns[1]).toMatchObject([{ text: 'mũno', start_ms: 30_000 }]);
  const exported = { ...run, audioMs: 31_000, chargedMs: 31_000 };
  expect(render('txt', exported)).toBe('nĩ wega\nmũno\n');
  expect(render('vtt', exported)).toContain('00:00:30.000 --> ');
  expect(JSON.parse(render('json', exported))).toMatchObject({ charged_ms: 31_000 });
});

test('counts the audio of a file when it is recognised, and of a microphone when it is captured', () => {
  const reserved: RunEvent = { type: 'reserved', remainingMs: 0, reservedMs: 30_000 };
  const sent: RunEvent = { type: 'sent', sentMs: 31_000 };
  expect(usedMs(after(started, reserved, sent))).toBe(30_000);
  expect(usedMs(after({ ...started, source: 'file' }, reserved, sent, delta('x', 900)))).toBe(900);
});

test('keeps the error and the recognised text after a failure', () => {
  const failed: RunEvent = { type: 'failed', code: 'internal_error', message: 'x' };
  const run = after(
    started,
    { type: 'ready', takesKeyterms: true },
    delta('nĩ we', 1_120),
    failed,
    {
      type: 'stopping',
    },
    { type: 'ended', ending: 'stopped' },
  );
  expect(run).toMatchObject({
    phase: 'failed',
    text: 'nĩ we',
    problem: { code: 'internal_error' },
  });
});

test('starts each run with empty state', () => {
  const run = after(started, delta('x', 1_000), { type: 'ended', ending: 'stopped' }, started);
  expect(run).toEqual({ ...IDLE, phase: 'connecting', model: 'svc-asr-kikuyu-v1' });
});

test('measures how old each word is when it first appears', () => {
  const ages = new WordAges();
  for (let at = 1; at <= 20; at += 1) ages.onCaptured(1_600, at * 100);
  ages.onText('nĩ', 1_200);
  ages.onText('nĩ wega', 2_000);
  // The first word ended at 1 s and appeared at 1.2 s, the second ended at 1.6 s and appeared at 2 s.
  const words = [{ end_ms: 1_000 }, { end_ms: 1_600 }];
  expect(ages.onFinal(words, 2_500)).toEqual({ p50Ms: 400, p95Ms: 400 });
  expect(ages.onFinal([{ end_ms: 2_000 }], 2_100)).toEqual({ p50Ms: 200, p95Ms: 400 });
  expect(new WordAges().onFinal([], 5)).toBeNull();
});

test('keeps whether a model takes keyterms and reports eager ends over its runs, but not the answer to the last list', () => {
  const answer = { taken: ['otieno'], refused: [], rest: 0 };
  const first = after(
    started,
    { type: 'ready', takesKeyterms: true },
    { type: 'keyterms', answer },
    { type: 'reports_eager', reportsEager: false },
  );
  const kept = { takesKeyterms: true, reportsEager: false };
  expect(first).toMatchObject({ ...kept, keyterms: answer });
  expect(follow(first, started)).toMatchObject({ ...kept, keyterms: null });
  const other: RunEvent = { ...started, model: 'svc-asr-dholuo-v1' };
  expect(follow(first, other)).toMatchObject({ takesKeyterms: null, reportsEager: null });
});

test('splits a list of keyterms, and names refused ones by what was written', () => {
  const asked = splitKeyterms(' Wanjirũ, Kĩambu\n\n3G;Otieno\n');
  expect(asked).toEqual(['Wanjirũ', 'Kĩambu', '3G', 'Otieno']);
  const refused = [
    { index: 2, reason: 'unsupported_characters' as const },
    { index: 3, reason: 'too_many' as const },
  ];
  expect(toAnswer(asked, { taken: ['wanjirũ', 'kĩambu'], refused })).toEqual({
    taken: ['wanjirũ', 'kĩambu'],
    refused: [{ index: 2, term: '3G', reason: 'unsupported_characters' }],
    rest: 1,
  });
});
