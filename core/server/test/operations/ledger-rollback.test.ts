import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runAdmin } from '../../src/admin/program.ts';
import { HistoryGuard } from '../../src/ledger/history-guard.ts';
import { acceptLedgerHistory } from '../../src/ledger/history-marks.ts';
import { createLog } from '../../src/platform/observe/log.ts';
import { DatabaseRefused } from '../../src/platform/database/db.ts';
import { databaseCopies, type DatabaseCopies } from '@svc-asr/testing/postgres/database-copies.ts';
import {
  attachDatabase,
  createTestDatabase,
  type TestDatabase,
} from '@svc-asr/testing/postgres/test-database.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { NODE, openLedgerFixture } from '@svc-asr/testing/ledger/ledger-fixture.ts';
import { withDatabase } from '@svc-asr/local/local-postgres.ts';
import { KIKUYU, startService, type Service } from '@svc-asr/testing/service/service.ts';
import { StreamClient } from '@svc-asr/testing/service/stream-client.ts';

const TOKEN = 'token-of-the-operator';
let database: TestDatabase;
let copies: DatabaseCopies;
beforeEach(async () => {
  database = await createTestDatabase();
  copies = databaseCopies(database.url);
});
afterEach(async () => {
  await database.drop();
  await copies.drop();
});

async function withService(work: (svc: Service) => Promise<void>): Promise<void> {
  const svc = await startService({ database, env: { METRICS_TOKEN: TOKEN } });
  try {
    await work(svc);
  } finally {
    await svc.stop();
  }
}

const becomes = (svc: Service, status: number) =>
  eventually(async () => (await svc.request('/readyz')).status === status, 20_000);

async function rolledBack(svc: Service): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const text = await (await fetch(`${svc.url}/metrics`, { headers })).text();
  return /^svc_ledger_rolled_back (\d)$/m.exec(text)?.[1];
}

async function admin(...words: string[]): Promise<{ status: number; out: string }> {
  let out = '';
  const status = await runAdmin([...words, '--json'], {
    env: { DATABASE_URL: database.url },
    devFolder: '/nowhere',
    out: (text) => void (out += text),
    err: () => {},
  });
  return { status, out };
}

/** Zero while the database cannot be reached. */
async function markedPosition(): Promise<number> {
  const { rows } = await database.pool
    .query<{ position: number }>('select max(position) as position from ledger_marks')
    .catch(() => ({ rows: [] }));
  return rows[0]?.position ?? 0;
}

/** Sends 0.5 s of audio and waits for its delta. */
async function speak(client: StreamClient): Promise<void> {
  client.send(new Uint8Array(16_000));
  await client.flush();
}

async function settled(svc: Service, consumedMs: number): Promise<boolean> {
  const { status, body } = await svc.usage();
  return status === 200 && body.consumed_ms === consumedMs && body.reserved_ms === 0;
}

async function completeSession(svc: Service): Promise<void> {
  const { body } = await svc.createSession();
  const client = await StreamClient.open(body, { url: svc.streamUrl });
  await speak(client);
  await client.close();
}

test('refuses an older database, keeps its streams, and recovers when the complete one returns', async () => {
  await withService(async (svc) => {
    const older = await copies.copy();
    await becomes(svc, 200);
    await completeSession(svc);
    await eventually(() => settled(svc, 1_000));
    const stream = await StreamClient.open((await svc.createSession()).body, {
      url: svc.streamUrl,
    });
    await speak(stream);

    const complete = await copies.replaceWith(older);
    await becomes(svc, 503);
    await eventually(async () => (await rolledBack(svc)) === '1');
    expect((await svc.refusedSession()).status).toBe(503);
    expect(svc.logged()).toContain('svc-admin ledger accept-restore');
    await speak(stream);
    await stream.close();

    await copies.replaceWith(complete);
    await becomes(svc, 200);
    expect(await rolledBack(svc)).toBe('0');
    await eventually(() => settled(svc, 2_000));
  });
});

test('uses an older database after an operator accepted the loss, without a restart', async () => {
  await withService(async (svc) => {
    const older = await copies.copy();
    await becomes(svc, 200);
    await completeSession(svc);
    await copies.replaceWith(older);
    await becomes(svc, 503);
    await eventually(async () => {
      const { out } = await admin('ledger', 'processes');
      return out.includes('"refuses"');
    });
    const accepted = await admin('ledger', 'accept-restore', '--reason', 'a drill');
    expect(accepted).toMatchObject({ status: 0 });
    expect(JSON.parse(accepted.out)).toEqual([{ processes: 1 }]);
    await becomes(svc, 200);
    expect(await rolledBack(svc)).toBe('0');
    // The accepted loss: the account has the restored credit.
    await eventually(() => settled(svc, 0));
    await completeSession(svc);
    await eventually(() => settled(svc, 1_000));
    const { rows } = await database.pool.query(
      `select after ->> 'reason' as reason from audit_log where action = 'ledger.history_accepted'`,
    );
    expect(rows).toEqual([{ reason: 'a drill' }]);
  });
});

test('becomes ready again on a database that never knew the process', async () => {
  const older = await copies.copy();
  await withService(async (svc) => {
    await copies.replaceWith(older);
    await becomes(svc, 503);
    await eventually(async () => (await rolledBack(svc)) === '1');
    await admin('ledger', 'accept-restore', '--reason', 'a drill');
    await becomes(svc, 200);
    await eventually(() => svc.logged().includes('so it registered again'));
    const tenant = await svc.addTenant({ creditMs: 60_000 });
    await eventually(() => svc.deps.placement.choose(KIKUYU) !== null);
    expect((await svc.createSession(undefined, tenant)).status).toBe(201);
  });
});

test('accepts a complete copy', async () => {
  await withService(async (svc) => {
    await completeSession(svc);
    await eventually(() => settled(svc, 1_000));
    const before = await markedPosition();
    await copies.replaceWithExactCopy();
    await eventually(async () => (await markedPosition()) > before + 1);
    await becomes(svc, 200);
    expect(svc.logged()).not.toContain('has lost ledger history');
  });
});

test('accepts a database in which another upgrade continues a session that was given up', async () => {
  const fixture = await openLedgerFixture(database);
  const guard = new HistoryGuard({ nodeId: 'n', log: createLog({ level: 'silent' }) });
  const ledger = guard.guard(fixture.ledger);
  const session = await fixture.reserve(await fixture.account(60_000));
  await fixture.claim(session, randomUUID());
  const { id: sessionId, accountId } = session;
  const node = { nodeId: NODE.id, nodeEpoch: fixture.nodeEpoch };
  const lost = { status: 'failed', samples: 0, upgradeId: randomUUID(), ...node } as const;
  expect(await ledger.close({ accountId, sessionId, ...lost })).toBe('superseded');
  await guard.verify(database.pool);
  expect(guard.isRolledBack).toBe(false);
});

test('detects a single missing acknowledged session', async () => {
  const fixture = await openLedgerFixture(database);
  const account = await fixture.account(60_000);
  const guard = new HistoryGuard({ nodeId: 'n', log: createLog({ level: 'silent' }) });
  const ledger = guard.guard(fixture.ledger);
  await guard.verify(database.pool);
  const older = attachDatabase(withDatabase(database.url, await copies.copy()));
  try {
    const reserved = await ledger.reserve({
      accountId: account,
      keyId: null,
      model: 'svc-asr-kikuyu-v1',
      requestedMs: 1_000,
      idempotencyKey: null,
      node: { id: 'node-1', url: 'wss://node-1.example' },
    });
    expect(reserved.outcome).toBe('reserved');
    await expect(guard.verify(older.pool)).rejects.toBeInstanceOf(DatabaseRefused);
    await expect(ledger.balance(account)).rejects.toBeInstanceOf(DatabaseRefused);
    await guard.verify(database.pool);
    expect(guard.isRolledBack).toBe(false);
  } finally {
    await older.drop();
  }
});

test('detects a single missing acknowledged claim', async () => {
  const fixture = await openLedgerFixture(database);
  const { id: sessionId, accountId } = await fixture.reserve(await fixture.account(60_000));
  const guard = new HistoryGuard({ nodeId: 'n', log: createLog({ level: 'silent' }) });
  const ledger = guard.guard(fixture.ledger);
  await guard.verify(database.pool);
  const older = attachDatabase(withDatabase(database.url, await copies.copy()));
  try {
    const claimed = await ledger.claim({
      accountId,
      sessionId,
      nodeId: NODE.id,
      nodeEpoch: fixture.nodeEpoch,
      upgradeId: randomUUID(),
    });
    expect(claimed.outcome).toBe('claimed');
    await expect(guard.verify(older.pool)).rejects.toBeInstanceOf(DatabaseRefused);
    await guard.verify(database.pool);
    expect(guard.isRolledBack).toBe(false);
  } finally {
    await older.drop();
  }
});

test('detects a missing claim although the answer of an earlier one arrived after it', async () => {
  const fixture = await openLedgerFixture(database);
  const earlier = await fixture.reserve(await fixture.account(60_000));
  const later = await fixture.reserve(await fixture.account(60_000));
  const committed = Promise.withResolvers<void>();
  const arrives = Promise.withResolvers<void>();
  const guard = new HistoryGuard({ nodeId: 'n', log: createLog({ level: 'silent' }) });
  const ledger = guard.guard({
    ...fixture.ledger,
    claim: async (input) => {
      const result = await fixture.ledger.claim(input);
      if (input.sessionId !== earlier.id) return result;
      committed.resolve();
      await arrives.promise;
      return result;
    },
  });
  const claim = ({ id: sessionId, accountId }: typeof earlier) => {
    const node = { nodeId: NODE.id, nodeEpoch: fixture.nodeEpoch };
    return ledger.claim({ accountId, sessionId, ...node, upgradeId: randomUUID() });
  };
  await guard.verify(database.pool);
  const first = claim(earlier);
  await committed.promise;
  const older = attachDatabase(withDatabase(database.url, await copies.copy()));
  try {
    expect((await claim(later)).outcome).toBe('claimed');
    arrives.resolve();
    expect((await first).outcome).toBe('claimed');
    await expect(guard.verify(older.pool)).rejects.toBeInstanceOf(DatabaseRefused);
    await acceptLedgerHistory(older.pool, 'a drill');
    await guard.verify(older.pool);
    expect(guard.isRolledBack).toBe(false);
  } finally {
    await older.drop();
  }
});

test('an operator accepts a loss once, however many connections are checked at the same time', async () => {
  const fixture = await openLedgerFixture(database);
  const { id: sessionId, accountId } = await fixture.reserve(await fixture.account(60_000));
  const guard = new HistoryGuard({ nodeId: 'n', log: createLog({ level: 'silent' }) });
  await guard.verify(database.pool);
  const older = attachDatabase(withDatabase(database.url, await copies.copy()));
  try {
    const node = { nodeId: NODE.id, nodeEpoch: fixture.nodeEpoch };
    const upgradeId = randomUUID();
    await guard.guard(fixture.ledger).claim({ accountId, sessionId, ...node, upgradeId });
    await expect(guard.verify(older.pool)).rejects.toBeInstanceOf(DatabaseRefused);
    await acceptLedgerHistory(older.pool, 'a drill');
    // A check may be refused if its answer overtakes the one that has the acceptance.
    await Promise.allSettled([1, 2, 3].map(() => guard.verify(older.pool)));
    expect(guard.isRolledBack).toBe(false);
  } finally {
    await older.drop();
  }
});
