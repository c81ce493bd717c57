import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Email } from './texts.ts';
import { Outbox } from './outbox.ts';

const EMAIL: Email = { to: 'a@example.com', subject: 'x', text: 'x' };

test('an email is not handed to the mail server while the response is written', async () => {
  const sent: Email[] = [];
  const outbox = new Outbox(
    { send: async (email) => void sent.push(email), close: () => {} },
    () => {},
  );
  outbox.enqueue(EMAIL);
  for (let at = 0; at < 10; at += 1) await turn();
  expect(sent).toEqual([]);
  await outbox.idle();
  expect(sent).toEqual([EMAIL]);
});

test('delays of several emails overlap', async () => {
  const sent: Email[] = [];
  const outbox = new Outbox(
    { send: async (email) => void sent.push(email), close: () => {} },
    () => {},
  );
  const began = performance.now();
  for (let at = 0; at < 100; at += 1) outbox.enqueue(EMAIL);
  await outbox.idle();
  expect(sent).toHaveLength(100);
  // Sequentially they would take at least 5 s.
  expect(performance.now() - began).toBeLessThan(4_000);
});

test('reports an email as lost when the queue is full', async () => {
  const lost: unknown[] = [];
  const delivered = Promise.withResolvers<void>();
  const outbox = new Outbox({ send: () => delivered.promise, close: () => {} }, (error) =>
    lost.push(error),
  );
  for (let at = 0; at < 200; at += 1) expect(outbox.enqueue(EMAIL)).toBe(true);
  expect(lost).toEqual([]);
  expect(outbox.enqueue(EMAIL)).toBe(false);
  expect(lost).toHaveLength(1);
  delivered.resolve();
  await outbox.idle();
});
