import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, expect } from 'vitest';
import type { Pool } from '@svc-asr/server/platform/database/db.ts';
import { findViolations } from '@svc-asr/server/ledger/reports/audit.ts';
import {
  createLedger,
  type CloseInput,
  type Ledger,
  type ReservedSession,
  type ReserveInput,
  type ReserveResult,
} from '@svc-asr/server/ledger/ledger.ts';
import { registerNode } from '@svc-asr/server/nodes/nodes.ts';
import { createTestDatabase, type TestDatabase } from '../postgres/test-database.ts';
import { createFundedAccount } from '@svc-asr/local/account-with-key.ts';
import { backdateSession } from '../postgres/time-travel.ts';

export const NODE = {
  id: 'node-1',
  publicUrl: 'wss://node-1.example/v1/asr/stream',
  models: ['svc-asr-kikuyu-v1', 'svc-asr-dholuo-v1'],
  capacity: 10,
} as const;

/** A ledger on its own database, with one node and helper methods for tests. */
export interface LedgerFixture {
  readonly database: TestDatabase;
  readonly ledger: Ledger;
  /** Connected as the schema owner, for setup and inspection. */
  readonly owner: Pool;
  readonly nodeEpoch: number;
  account(creditMs: number): Promise<string>;
  tryReserve(accountId: string, overrides?: Partial<ReserveInput>): Promise<ReserveResult>;
  /** Throws unless a session was reserved. */
  reserve(accountId: string, overrides?: Partial<ReserveInput>): Promise<ReservedSession>;
  claim(session: ReservedSession, upgradeId?: string): Promise<string>;
  giveBack(session: ReservedSession, upgradeId: string): Promise<string>;
  close(session: ReservedSession, end?: Partial<CloseInput>): Promise<string>;
  /** Makes it a minute older, so that it has expired. */
  expire(session: ReservedSession): Promise<void>;
  /** Fails the test unless every invariant holds. */
  expectInvariantsHold(): Promise<void>;
  drop(): Promise<void>;
}

/** Opens a fixture for the tests of a file. After each of them the invariants must hold. */
export async function openCheckedLedgerFixture(): Promise<LedgerFixture> {
  const fixture = await openLedgerFixture();
  afterEach(() => fixture.expectInvariantsHold());
  afterAll(() => fixture.drop());
  return fixture;
}

export async function openLedgerFixture(given?: TestDatabase): Promise<LedgerFixture> {
  const database = given ?? (await createTestDatabase());
  const owner = database.pool;
  const ledger = createLedger(database.as('svc_all'));
  const nodeEpoch = await registerNode(owner, NODE);
  // Tests about leases set their own.
  await owner.query(`update nodes set lease_until = 'infinity'`);

  async function tryReserve(
    accountId: string,
    overrides: Partial<ReserveInput> = {},
  ): Promise<ReserveResult> {
    return ledger.reserve({
      accountId,
      keyId: null,
      model: 'svc-asr-kikuyu-v1',
      requestedMs: 60_000,
      idempotencyKey: null,
      node: { id: NODE.id, url: NODE.publicUrl },
      ...overrides,
    });
  }
  function named(session: ReservedSession) {
    return { sessionId: session.id, accountId: session.accountId, nodeId: NODE.id, nodeEpoch };
  }
  return {
    database,
    ledger,
    owner,
    nodeEpoch,
    tryReserve,
    account: (creditMs) => createFundedAccount(owner, { creditMs }),
    async reserve(accountId, overrides) {
      const result = await tryReserve(accountId, overrides);
      if (result.outcome !== 'reserved') throw new Error(`Not reserved: ${result.outcome}`);
      return result.session;
    },
    async claim(session, upgradeId = randomUUID()) {
      return (await ledger.claim({ ...named(session), upgradeId })).outcome;
    },
    giveBack: ({ id: sessionId, accountId }, upgradeId) =>
      ledger.giveBack({ sessionId, accountId, upgradeId }),
    close: (session, end) =>
      ledger.close({ ...named(session), status: 'completed', samples: 0, ...end }),
    expire: (session) => backdateSession(owner, { sessionId: session.id, ms: 60_000 }),
    async expectInvariantsHold() {
      expect(await findViolations(owner)).toEqual([]);
    },
    drop: () => database.drop(),
  };
}
