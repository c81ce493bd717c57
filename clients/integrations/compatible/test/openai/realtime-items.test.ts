import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ItemEvent } from '../../src/openai/realtime-events.ts';
import { RealtimeItems } from '../../src/openai/realtime-items.ts';

/** A stream that keeps the service's promises: stable text never changes, and each flush gets one final. */
const STEP = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('hear' as const), part: fc.nat({ max: 8 }) }),
  },
  fc.record({ do: fc.constant('commit' as const) }),
  fc.record({ do: fc.constant('answer' as const), commits: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constantFrom('pause', 'rollover', 'clear', 'speak') }),
);
const WORDS = ['mũndũ', 'wa', 'gĩkũyũ', 'nĩ', 'aroka', 'rũciũ'];

interface Played {
  readonly events: readonly ItemEvent[];
  readonly commits: number;
  /** The text of each turn, in order. */
  readonly turns: readonly string[];
}

function play(steps: readonly (typeof STEP extends fc.Arbitrary<infer S> ? S : never)[]): Played {
  let number = 0;
  const items = new RealtimeItems({
    newId: () => `item_${String((number += 1)).padStart(6, '0')}`,
    hasTurnEvents: () => true,
  });
  const events: ItemEvent[] = [];
  const turns: string[] = [];
  let [utterance, stable, pending, commits, audioMs] = ['', 0, 0, 0, 0];
  let turn: string[] = [];
  const final = (input: { commits: number; endsTurn: boolean }): void => {
    const startMs = audioMs;
    audioMs += 500;
    events.push(...items.final({ text: utterance, startMs, endMs: audioMs, ...input }));
    if (utterance !== '') turn.push(utterance);
    [utterance, stable] = ['', 0];
    if (input.commits === 0 && (pending > 0 || !input.endsTurn)) return;
    turns.push(turn.join(' '));
    turn = [];
  };
  for (const step of steps) {
    if (step.do === 'hear') {
      utterance += (utterance === '' ? '' : ' ') + (WORDS[step.part % WORDS.length] ?? '');
      stable = Math.max(stable, utterance.length - step.part);
      events.push(...items.delta(utterance.slice(0, stable)));
    }
    if (step.do === 'speak') events.push(...items.speechStarted(audioMs));
    if (step.do === 'commit') {
      events.push(...items.commit());
      pending += 1;
      commits += 1;
    }
    if (step.do === 'answer' && pending > 0) {
      const answered = Math.min(pending, step.commits);
      final({ commits: answered, endsTurn: true });
      pending -= answered;
    }
    if (step.do === 'pause') final({ commits: 0, endsTurn: true });
    if (step.do === 'rollover') final({ commits: 0, endsTurn: false });
    if (step.do === 'clear') {
      items.clear();
      if (pending === 0) [utterance, stable, turn] = ['', 0, []];
    }
  }
  for (; pending > 0; pending -= 1) final({ commits: 1, endsTurn: true });
  return { events, commits, turns: turns.filter((text) => text !== '') };
}

const isCompleted = (event: ItemEvent) => event.type === 'completed';
const ofItem = (events: readonly ItemEvent[], id: string) =>
  events.filter((event) => event.itemId === id);

test('the deltas of an item form its transcript', () => {
  fc.assert(
    fc.property(fc.array(STEP, { maxLength: 60 }), (steps) => {
      const { events } = play(steps);
      for (const done of events.filter(isCompleted)) {
        const deltas = ofItem(events, done.itemId).filter(({ type }) => type === 'delta');
        const text = deltas.map((event) => (event.type === 'delta' ? event.delta : '')).join('');
        expect(text).toBe(done.transcript);
      }
    }),
  );
});

test('every item is committed once, completed once, and silent afterwards', () => {
  fc.assert(
    fc.property(fc.array(STEP, { maxLength: 60 }), (steps) => {
      const { events } = play(steps);
      for (const done of events.filter(isCompleted)) {
        const types = ofItem(events, done.itemId).map(({ type }) => type);
        expect(types.filter((type) => type === 'committed')).toHaveLength(1);
        expect(types.indexOf('completed')).toBe(types.length - 1);
        const starts = types.filter((type) => type === 'speech_started').length;
        expect(types.filter((type) => type === 'speech_stopped')).toHaveLength(starts);
      }
    }),
  );
});

test('every commit gets exactly one completed, and no text is lost', () => {
  fc.assert(
    fc.property(fc.array(STEP, { maxLength: 60 }), (steps) => {
      const { events, commits, turns } = play(steps);
      const committed = events.filter(({ type }) => type === 'committed');
      const completed = events.filter(isCompleted);
      expect(completed.map(({ itemId }) => itemId)).toEqual(committed.map(({ itemId }) => itemId));
      expect(completed.length).toBeGreaterThanOrEqual(commits);
      expect(completed.map(({ transcript }) => transcript).filter(Boolean)).toEqual(turns);
    }),
  );
});

test('item ids are unique and ordered, and each item names the one before it', () => {
  fc.assert(
    fc.property(fc.array(STEP, { maxLength: 60 }), (steps) => {
      const committed = play(steps).events.filter((event) => event.type === 'committed');
      const ids = committed.map(({ itemId }) => itemId);
      expect(ids).toEqual([...new Set(ids)].toSorted());
      expect(committed.map(({ previousId }) => previousId)).toEqual(
        [null, ...ids].slice(0, ids.length),
      );
    }),
  );
});

test('a final without a commit or a pause continues the item', () => {
  const items = new RealtimeItems({ newId: () => 'item_1', hasTurnEvents: () => false });
  const final = { startMs: 0, endMs: 1_000, endsTurn: false };
  expect(items.final({ ...final, text: 'nĩ wega', commits: 0 })).toEqual([
    { type: 'delta', itemId: 'item_1', delta: 'nĩ wega' },
  ]);
  expect(items.commit()).toEqual([{ type: 'committed', itemId: 'item_1', previousId: null }]);
  expect(items.final({ ...final, text: 'mũno', commits: 1 })).toEqual([
    { type: 'delta', itemId: 'item_1', delta: ' mũno' },
    { type: 'completed', itemId: 'item_1', transcript: 'nĩ wega mũno', audioMs: 1_000 },
  ]);
});

test('text that a second session recognises differently is not appended, and completed corrects it', () => {
  const items = new RealtimeItems({ newId: () => 'item_1', hasTurnEvents: () => false });
  expect(items.delta('nĩ weg')).toHaveLength(1);
  expect(items.delta('nĩ gwega')).toEqual([]);
  const events = items.final({
    text: 'nĩ gwega',
    startMs: 0,
    endMs: 500,
    commits: 0,
    endsTurn: true,
  });
  expect(events.map(({ type }) => type)).toEqual(['committed', 'completed']);
  expect(events.at(-1)).toMatchObject({ transcript: 'nĩ gwega' });
});

test('a failed stream reports every commit that has no transcript', () => {
  let number = 0;
  const items = new RealtimeItems({
    newId: () => `item_${(number += 1)}`,
    hasTurnEvents: () => false,
  });
  items.commit();
  items.commit();
  items.delta('wa');
  expect(items.fail({ code: 'insufficient_credits', message: 'Add credit.' })).toEqual([
    { type: 'failed', itemId: 'item_1', code: 'insufficient_credits', message: 'Add credit.' },
    { type: 'failed', itemId: 'item_2', code: 'insufficient_credits', message: 'Add credit.' },
  ]);
  expect(items.commitsPending).toBe(0);
});

test('a start of speech inside a turn that has ended is not reported', () => {
  const items = new RealtimeItems({ newId: () => 'item_1', hasTurnEvents: () => true });
  items.final({ text: 'wa', startMs: 200, endMs: 900, commits: 0, endsTurn: true });
  expect(items.speechStarted(250)).toEqual([]);
  expect(items.speechEnded(900)).toEqual([]);
  expect(items.speechStarted(950)).toHaveLength(1);
});
