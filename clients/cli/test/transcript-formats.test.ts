import type { FinalEvent, Word } from '@svc-asr/sdk/stream';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FileTranscript } from '../src/file-transcript.ts';
import { cues } from '@svc-asr/protocol/captions.ts';
import { render } from '../src/transcript-formats.ts';

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

/** Words of random length with random pauses. */
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
  return new FileTranscript({ finals: [final(words)], audioMs: 0, sessions: [] });
}

test('subtitles contain every word once, in order, and never overlap', () => {
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

test('formats SRT and WebVTT', () => {
  const words = [
    { text: 'ũhoro', start_ms: 3_599_500, end_ms: 3_599_900 },
    { text: 'waku', start_ms: 3_600_000, end_ms: 3_600_400 },
  ];
  expect(render('srt', transcript(words))).toBe('1\n00:59:59,500 --> 01:00:00,400\nũhoro waku\n');
  expect(render('vtt', transcript(words))).toBe(
    'WEBVTT\n\n00:59:59.500 --> 01:00:00.400\nũhoro waku\n',
  );
});

test('breaks long cues into two lines', () => {
  const words = Array.from({ length: 9 }, (_, at) => ({
    text: 'mũrata'.padEnd(8, 'a'),
    start_ms: at * 500,
    end_ms: at * 500 + 400,
  }));
  const [, , first = '', second = ''] = render('srt', transcript(words)).split('\n');
  expect([first.length, second.length].every((length) => length > 0 && length <= 45)).toBe(true);
});

test('one turn is one cue, also if the next turn follows at once', () => {
  const words = ['ũhoro', 'waku', 'nĩ', 'mwega'].map((text, at) => ({
    text,
    start_ms: at * 300,
    end_ms: at * 300 + 300,
  }));
  const made = cues([final(words.slice(0, 2)), final(words.slice(2))]);
  expect(made.map(({ text }) => text)).toEqual(['ũhoro waku', 'nĩ mwega']);
});

test('splits a turn that is too long at its longest pause, and leaves no word alone', () => {
  const said = Array.from({ length: 14 }, (_, at) => ({
    text: 'mũrata'.padEnd(8, 'a'),
    // A short pause after the eighth word.
    start_ms: at * 400 + (at >= 8 ? 500 : 0),
    end_ms: at * 400 + 380 + (at >= 8 ? 500 : 0),
  }));
  expect(cues([final(said)]).map(({ text }) => text.split(' ').length)).toEqual([8, 6]);
  const even = Array.from({ length: 10 }, (_, at) => ({
    text: 'mũrata'.padEnd(8, 'a'),
    start_ms: at * 400,
    end_ms: at * 400 + 400,
  }));
  expect(cues([final(even)]).map(({ text }) => text.split(' ').length)).toEqual([5, 5]);
});
