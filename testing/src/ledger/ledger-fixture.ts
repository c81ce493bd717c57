import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Pool } from '@svc-asr/server/platform/db.ts';
import { findViolations } from '@svc-asr/server/ledger/audit.ts';
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
import { createFundedAccount } from '../service/account-with-key.ts';
import { makeOlder } from '../postgres/time-travel.ts';

export const NODE = {
  id: 'node-1',
  publicUrl: 'wss://node-1.example/v1/asr/stream',
  models: ['svc-asr-kikuyu-v1', 'svc-asr-dholuo-v1'],
  capacity: 10,
} as const;

/** A ledger on its own database, with one node and helper methods for tests. */
export interface Books {
  readonly database: TestDatabase;
  readonly ledger: Ledger;
  /** As the owner of the schema: operators' work, and looking. */
  readonly owner: Pool;
  readonly nodeEpoch: number;
  account(creditMs: number): Promise<string>;
  ask(accountId: string, wish?: Partial<ReserveInput>): Promise<ReserveResult>;
  /** Fails the test unless it was reserved. */
  reserve(accountId: string, wish?: Partial<ReserveInput>): Promise<ReservedSession>;
  claim(session: ReservedSession, attemptId?: string): Promise<string>;
  close(session: ReservedSession, end?: Partial<CloseInput>): Promise<string>;
  /** As if a minute had passed since it was created. */
  lapse(session: ReservedSession): Promise<void>;
  /** Fails the test unless every invariant holds. */
  mustBeRight(): Promise<void>;
  drop(): Promise<void>;
}

export async function openBooks(given?: TestDatabase): Promise<Books> {
  const database = given ?? (await createTestDatabase());
  const owner = database.pool;
  const ledger = createLedger(database.as('svc_all'));
  const nodeEpoch = await registerNode(owner, NODE);
  // Tests that are about leases set their own.
  await owner.query(`update nodes set lease_until = 'infinity'`);

  async function ask(accountId: string, wish: Partial<ReserveInput> = {}): Promise<ReserveResult> {
    return ledger.reserve({
      accountId,
      keyId: null,
      model: 'svc-asr-kikuyu-v1',
      requestedMs: 60_000,
      idempotencyKey: null,
      node: { id: NODE.id, url: NODE.publicUrl },
      ...wish,
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
    ask,
    account: (creditMs) => createFundedAccount(owner, { creditMs }),
    async reserve(accountId, wish) {
      const result = await ask(accountId, wish);
      if (result.outcome !== 'reserved') throw new Error(`Not reserved: ${result.outcome}`);
      return result.session;
    },
    async claim(session, attemptId = randomUUID()) {
      return (await ledger.claim({ ...named(session), attemptId })).outcome;
    },
    close: (session, end) =>
      ledger.close({ ...named(session), status: 'completed', samples: 0, ...end }),
    lapse: (session) => makeOlder(owner, { sessionId: session.id, ms: 60_000 }),
    async mustBeRight() {
      expect(await findViolations(owner)).toEqual([]);
    },
    drop: () => database.drop(),
  };
}
