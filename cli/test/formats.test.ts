import type { FinalEvent, Word } from '@svc-asr/sdk/stream';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cues, render } from '../src/formats.ts';

function final(words: readonly Word[]): FinalEvent {
  const end = words.at(-1)?.end_ms ?? 0;
  return {
    type: 'final',
    text: words.map((word) => word.text).join(' '),
    utterance: 0,
    reason: 'flush',
    start_ms: 0,
    end_ms: end,
    words: [...words],
    audio_ms: end,
    total_audio_ms: end,
    billable_ms: end,
  };
}

/** Words of random length, one after the other, with random pauses. */
const spoken = fc
  .array(
    fc.record({
      text: fc.stringMatching(/^[a-zĩũ]{1,12}$/),
      gap: fc.nat(1_500),
      ms: fc.integer({ min: 40, max: 900 }),
    }),
  )
  .map((words) => {
    let at = 0;
    return words.map(({ text, gap, ms }) => {
      const start = at + gap;
      at = start + ms;
      return { text, start_ms: start, end_ms: at };
    });
  });

function transcript(words: readonly Word[]) {
  const finals = [final(words)];
  return { text: finals[0]?.text ?? '', finals, words: [...words], sessions: [] };
}

test('subtitles hold every word once, in order, in time, and never overlap', () => {
  fc.assert(
    fc.property(spoken, (words) => {
      const made = cues([final(words)]);
      expect(made.flatMap((cue) => cue.text.split(' '))).toEqual(words.map((word) => word.text));
      for (const [at, cue] of made.entries()) {
        expect(cue.endMs).toBeGreaterThan(cue.startMs);
        expect(cue.startMs).toBeGreaterThanOrEqual(made[at - 1]?.endMs ?? 0);
        expect(cue.text.length).toBeLessThanOrEqual(84);
      }
    }),
  );
});

test('SRT and WebVTT are written as players want them', () => {
  const words = [
    { text: 'ũhoro', start_ms: 3_599_500, end_ms: 3_599_900 },
    { text: 'waku', start_ms: 3_600_000, end_ms: 3_600_400 },
  ];
  expect(render('srt', 'a.wav', transcript(words))).toBe(
    '1\n00:59:59,500 --> 01:00:00,400\nũhoro waku\n',
  );
  expect(render('vtt', 'a.wav', transcript(words))).toBe(
    'WEBVTT\n\n00:59:59.500 --> 01:00:00.400\nũhoro waku\n',
  );
});

test('long cues have two lines', () => {
  const words = Array.from({ length: 9 }, (_, at) => ({
    text: 'mũrata'.padEnd(8, 'a'),
    start_ms: at * 500,
    end_ms: at * 500 + 400,
  }));
  const [, , first = '', second = ''] = render('srt', 'a.wav', transcript(words)).split('\n');
  expect([first.length, second.length].every((length) => length > 0 && length <= 45)).toBe(true);
});
