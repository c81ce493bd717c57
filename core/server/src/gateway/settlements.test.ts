import { expect, test } from 'vitest';
import type { CloseInput } from '../ledger/ledger.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { Settlements } from './settlements.ts';

function settlement(sessionId: string, accountId = `account of ${sessionId}`): CloseInput {
  const owner = { sessionId, accountId, nodeId: 'node', nodeEpoch: 1 };
  return { ...owner, status: 'completed', samples: 16_000 };
}

class Database {
  isDown = false;
  lockedAccount: string | null = null;
  /** Attempts wait for it. */
  stall: Promise<void> | null = null;
  refusal: Error | null = null;
  attempts = 0;
  readonly written: string[] = [];
  readonly delayed: string[] = [];
  readonly lost: { sessionId: string; cause: unknown }[] = [];

  readonly settlements = new Settlements({
    write: async ({ sessionId, accountId }) => {
      this.attempts += 1;
      await this.stall;
      if (this.refusal !== null) throw this.refusal;
      if (this.isDown) throw new Error('Connection terminated');
      if (accountId === this.lockedAccount) {
        throw Object.assign(new Error('canceling statement due to statement timeout'), {
          code: '57014',
        });
      }
      this.written.push(sessionId);
    },
    onDelayed: ({ sessionId }) => this.delayed.push(sessionId),
    onLost: ({ sessionId }, cause) => this.lost.push({ sessionId, cause }),
  });
}

test('settlements wait while the database is down, and each is written once when it returns', async () => {
  const database = new Database();
  database.isDown = true;
  const names = Array.from({ length: 30 }, (_, at) => `s${at}`);
  const settled = Promise.all(names.map((name) => database.settlements.settle(settlement(name))));
  await eventually(() => database.attempts >= 60);
  expect(database.settlements.pending).toBe(30);
  database.isDown = false;
  await settled;
  expect(database.written.toSorted()).toEqual(names.toSorted());
  expect(database.settlements.pending).toBe(0);
});

test('a settlement that the database refuses is abandoned at once, with the reason', async () => {
  const database = new Database();
  database.refusal = Object.assign(new Error('belongs to another node'), { code: 'SVC03' });
  await database.settlements.settle(settlement('s'));
  expect(database.attempts).toBe(1);
  expect(database.lost).toEqual([{ sessionId: 's', cause: database.refusal }]);
});

test('a settlement that fails for a reason that can heal is reported once and retried', async () => {
  const database = new Database();
  database.refusal = Object.assign(new Error('permission denied'), { code: '42501' });
  const settled = database.settlements.settle(settlement('s'));
  await eventually(() => database.attempts >= 3);
  expect(database).toMatchObject({ delayed: ['s'], lost: [] });
  database.refusal = null;
  await settled;
  expect(database.written).toEqual(['s']);
});

test('drained waits for a first attempt that is still under way', async () => {
  const database = new Database();
  const { promise, resolve } = Promise.withResolvers<void>();
  database.stall = promise;
  void database.settlements.settle(settlement('s'));
  let isDrained = false;
  const drained = database.settlements.drained().then(() => (isDrained = true));
  await new Promise((turn) => setImmediate(turn));
  expect(isDrained).toBe(false);
  resolve();
  await drained;
  expect(database.written).toEqual(['s']);
});

test('drained waits through failing attempts until the database returns', async () => {
  const database = new Database();
  database.isDown = true;
  void database.settlements.settle(settlement('s'));
  const drained = database.settlements.drained();
  await eventually(() => database.attempts >= 2);
  database.isDown = false;
  await drained;
  expect(database).toMatchObject({ written: ['s'], lost: [] });
});

test('an account whose row is locked does not hold up the settlements of others', async () => {
  const database = new Database();
  database.isDown = true;
  database.lockedAccount = 'locked';
  const locked = Array.from({ length: 50 }, (_, at) => settlement(`l${at}`, 'locked'));
  const others = Array.from({ length: 50 }, (_, at) => settlement(`o${at}`));
  for (const one of locked) void database.settlements.settle(one);
  const settled = others.map((one) => database.settlements.settle(one));
  await eventually(() => database.attempts >= 100);
  database.isDown = false;
  await Promise.all(settled);
  expect(database.written).toHaveLength(50);
  expect(database.settlements.pending).toBe(50);
  database.lockedAccount = null;
  await database.settlements.drained();
  expect(database.written).toHaveLength(100);
});

test('stop abandons pending settlements and reports each', async () => {
  const database = new Database();
  database.isDown = true;
  const settled = database.settlements.settle(settlement('s'));
  await eventually(() => database.attempts >= 2);
  await database.settlements.stop();
  await settled;
  expect(database.lost).toMatchObject([{ sessionId: 's', cause: expect.any(Error) }]);
});
