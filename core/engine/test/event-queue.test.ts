import { expect, test } from 'vitest';
import type { EngineEvent } from '../src/index.ts';
import { EventQueue } from '../src/event-queue.ts';

const delta = (samples: number): EngineEvent => ({
  type: 'delta',
  utterance: 0,
  text: 'nĩ',
  stableLength: 0,

  samples,
});
const final: EngineEvent = { type: 'final', utterance: 0, text: '', words: [], samples: 0 };

async function readAll(queue: EventQueue): Promise<EngineEvent[]> {
  const seen: EngineEvent[] = [];
  for await (const event of queue) seen.push(event);
  return seen;
}

test('a slow reader gets the newest delta and every final', async () => {
  const queue = new EventQueue();
  for (let samples = 0; samples < 10_000; samples += 1) queue.push(delta(samples));
  queue.push(final);
  queue.fail('child_died');
  const seen = await readAll(queue);
  expect(seen.length).toBeLessThan(100);
  expect(seen.slice(-3)).toEqual([delta(9_999), final, { type: 'error', reason: 'child_died' }]);
});

test('a stalled reader overflows the queue and still gets the error', async () => {
  const queue = new EventQueue();
  let taken = 0;
  while (queue.push(final) === 'taken') taken += 1;
  expect(taken).toBe(1024);
  queue.fail('queue_overflow');
  expect((await readAll(queue)).at(-1)).toEqual({ type: 'error', reason: 'queue_overflow' });
});

test('error is the last event and comes once', async () => {
  const queue = new EventQueue();
  queue.fail('child_died');
  queue.push(final);
  queue.fail('engine_closed');
  expect(await readAll(queue)).toEqual([{ type: 'error', reason: 'child_died' }]);
});
