import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLedger, type Ledger } from '../src/ledger/ledger.ts';
import { registerNode } from '../src/nodes.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { fundedAccount } from './funded-account.ts';

const MODEL = 'svc-asr-kikuyu-v1';
const URL = 'wss://node-1.example/v1/asr/stream';
let database: TestDatabase;
let ledger: Ledger;
let nodeEpoch: number;

beforeAll(async () => {
  database = await createTestDatabase();
  ledger = createLedger(database.as('svc_all'));
  nodeEpoch = await registerNode(database.as('svc_node'), {
    id: 'node-1',
    publicUrl: URL,
    models: [MODEL],
    capacity: 10,
  });
});
afterAll(() => database.drop());

test('a session sets credit aside, spends what was heard, rounded up, and gives the rest back', async () => {
  const accountId = await fundedAccount(database.pool, { creditMs: 10_000 });
  const reservation = await ledger.reserve({
    accountId,
    keyId: null,
    model: MODEL,
    requestedMs: 8_000,
    idempotencyKey: null,
    node: { id: 'node-1', url: URL },
  });
  if (reservation.outcome !== 'reserved') throw new Error(reservation.outcome);
  const { session } = reservation;
  expect(session).toMatchObject({ reservedMs: 8_000, remainingMs: 2_000, websocketUrl: URL });
  expect(session.expiresAt.getTime() - session.createdAt.getTime()).toBe(60_000);

  const claim = { sessionId: session.id, accountId, nodeId: 'node-1', nodeEpoch };
  expect((await ledger.claim(claim)).outcome).toBe('claimed');
  expect((await ledger.claim(claim)).outcome).toBe('used');

  const end = { ...claim, status: 'completed', samples: 19_200 } as const;
  expect(await ledger.close(end)).toBe('closed');
  expect(await ledger.close(end)).toBe('already');
  expect(await ledger.balance(accountId)).toMatchObject({
    availableMs: 8_000,
    reservedMs: 0,
    consumedMs: 2_000,
    recentSessions: [{ id: session.id, status: 'completed', audioMs: 1_200, billableMs: 2_000 }],
  });
});
