import { expect, test } from 'vitest';
import type { Conversation } from '../../src/turns/conversation.ts';
import { emptyTally, figuresOfTally, scoreTurns } from '../../src/turns/score-turns.ts';
import type { Segment } from '../../src/turns/segments.ts';

const MS = 16;
const SILENCE_MS = 500;

/** A conversation with phrases at these milliseconds. */
function said(...phrases: [startMs: number, endMs: number][]): Conversation {
  return {
    voice: 'someone',
    letters: false,
    wave: new Float32Array(60_000 * MS),
    phrases: phrases.map(([start, end]) => ({
      start: start * MS,
      end: end * MS,
      alone: end - start < 420,
    })),
  };
}

/** A segment that ended its turn after the silence. */
function heard(startMs: number, endMs: number, silenceMs = SILENCE_MS): Segment {
  return {
    start: startMs * MS,
    end: endMs * MS,
    startedAt: (startMs + 100) * MS,
    endpoint: (endMs + silenceMs) * MS,
    confirmed: null,
  };
}

function score(conversation: Conversation, segments: Segment[]): Record<string, number> {
  const tally = emptyTally();
  scoreTurns(tally, conversation, { segments, silenceMs: SILENCE_MS });
  return figuresOfTally(tally);
}

test('counts nothing against a detector that hears every phrase', () => {
  const conversation = said([1_000, 2_000], [4_000, 4_300]);
  const figures = score(conversation, [heard(1_000, 1_980), heard(4_020, 4_310)]);
  expect(figures).toMatchObject({ cut_pct: 0, never_pct: 0, missed_pct: 0, missed_short_pct: 0 });
  expect(figures).toMatchObject({ false_starts_per_hour: 0, end_error_p5_ms: -20 });
});

test('counts a turn as cut when it ends before its last phrase', () => {
  // The pause of 400 ms is shorter than the silence, so both phrases are one turn.
  const conversation = said([1_000, 2_000], [2_400, 3_000]);
  const figures = score(conversation, [heard(1_000, 1_860), heard(2_400, 3_000)]);
  expect(figures).toMatchObject({ cut_pct: 100, never_pct: 0 });
});

test('counts a turn as never ended when its endpoint comes after the next turn has begun', () => {
  const conversation = said([1_000, 2_000], [2_600, 3_000]);
  expect(score(conversation, [heard(1_000, 3_000)])).toMatchObject({ cut_pct: 0, never_pct: 50 });
});

test('counts a short word as missed when less than a fifth of it was heard', () => {
  const conversation = said([1_000, 2_000], [4_000, 4_300]);
  expect(score(conversation, [heard(1_000, 2_000), heard(4_250, 4_300)])).toMatchObject({
    missed_pct: 50,
    missed_short_pct: 100,
  });
});

test('counts segments in which nobody spoke', () => {
  expect(score(said(), [heard(1_000, 2_000), heard(5_000, 6_000)])).toMatchObject({
    false_starts_per_hour: 120,
  });
});
