import { expect, test } from 'vitest';
import type { CloseInput } from '../ledger/ledger.ts';
import { Settlements } from './settlements.ts';

function settlement(sessionId: string): CloseInput {
  const owner = { sessionId, accountId: 'account', nodeId: 'node', nodeEpoch: 1 };
  return { ...owner, status: 'completed', samples: 16_000 };
}

class Database {
  isAway = false;
  readonly written: string[] = [];
  readonly lost: string[] = [];
  attempts = 0;
  refusal: Error | null = null;

  readonly settlements = new Settlements({
    write: async ({ sessionId }) => {
      this.attempts += 1;
      if (this.refusal !== null) throw this.refusal;
      if (this.isAway) throw new Error('Connection terminated');
      this.written.push(sessionId);
    },
    onLost: ({ sessionId }) => this.lost.push(sessionId),
  });
}

test('while the database is away settlements wait, and each is written once when it is back', async () => {
  const database = new Database();
  database.isAway = true;
  const names = Array.from({ length: 30 }, (_, at) => `s${at}`);
  const settled = Promise.all(names.map((name) => database.settlements.settle(settlement(name))));
  while (database.attempts < 60) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(database.settlements.waiting).toBe(30);
  database.isAway = false;
  await settled;
  expect(database.written.toSorted()).toEqual(names.toSorted());
  expect(database.settlements.waiting).toBe(0);
});

test('what the database refuses for good is given up and said, not tried for ever', async () => {
  const database = new Database();
  database.refusal = Object.assign(new Error('belongs to another node'), { code: '42501' });
  await database.settlements.settle(settlement('s'));
  expect(database).toMatchObject({ attempts: 1, lost: ['s'] });
});

test('a stop gives up what still waits, and says so', async () => {
  const database = new Database();
  database.isAway = true;
  const settled = database.settlements.settle(settlement('s'));
  while (database.settlements.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  await database.settlements.stop();
  await settled;
  expect(database.lost).toEqual(['s']);
});
