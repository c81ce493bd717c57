import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../config.ts';
import { CompatibleMetrics } from '../metrics.ts';
import { Decoders } from './decoders.ts';

const { signal } = new AbortController();

function decoders(limits: Partial<typeof DEFAULT_LIMITS>): Decoders {
  const metrics = new CompatibleMetrics();
  return new Decoders({ ffmpeg: 'ffmpeg', limits: { ...DEFAULT_LIMITS, ...limits }, metrics });
}

test('gives a free slot to the account that holds the fewest, not to the one that asked first', async () => {
  const slots = decoders({ decoders: 2, decodersPerAccount: 2 });
  const [leave] = [await slots.admit('b', signal), await slots.admit('a', signal)];
  const order: string[] = [];
  const take = async (account: string): Promise<void> => {
    const leaveAgain = await slots.admit(account, signal);
    order.push(account);
    leaveAgain();
  };
  const waiting = [take('a'), take('c')];
  leave();
  await Promise.all(waiting);
  expect(order).toEqual(['c', 'a']);
});

test('refuses an account at its share at once, and others after a wait', async () => {
  const slots = decoders({ decoders: 1, decodersPerAccount: 1, sessionWaitMs: 10 });
  await slots.admit('a', signal);
  await expect(slots.admit('a', signal)).rejects.toMatchObject({ status: 429 });
  await expect(slots.admit('b', signal)).rejects.toMatchObject({ status: 503 });
});

test('a request that ends while it waits leaves the queue', async () => {
  const slots = decoders({ decoders: 1 });
  const leave = await slots.admit('a', signal);
  const gone = new AbortController();
  const waiting = slots.admit('b', gone.signal);
  gone.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  leave();
  await expect(slots.admit('c', signal)).resolves.toBeTypeOf('function');
});
