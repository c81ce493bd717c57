import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { listAuditLog } from '../../src/accounts/logs/audit-log.ts';
import { revokeApiKey } from '../../src/accounts/keys/api-keys.ts';
import { cancelMove } from '../../src/cells/move-account.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { moveBetween, spend, openCells, violations, type TestCell } from './two-cells.ts';

const [k1, k2] = await openCells();

test('an account moves with its balance, history and keys, and moves back', async () => {
  const { accountId, apiKey } = await k1.service.addTenant({ creditMs: 100_000 });
  await spend(k1, accountId, 7);
  await moveBetween(k1, k2, accountId);

  const there = await k2.service.usage({ apiKey });
  expect(there.body).toMatchObject({ available_ms: 93_000, reserved_ms: 0, consumed_ms: 7_000 });
  expect(there.body.recent_sessions).toHaveLength(1);
  await spend(k2, accountId, 3);
  await expect(spend(k1, accountId, 1)).rejects.toThrow('account_moving');
  await eventually(async () => {
    const here = await k1.service.refusedSession(undefined, { apiKey });
    expect(here.status).toBe(503);
    return here.headers.get('x-svc-moved-to') === 'k2' && here.headers.get('retry-after') === '1';
  });

  await moveBetween(k2, k1, accountId);
  await spend(k1, accountId, 2);
  await eventually(async () => {
    const back = await k1.service.usage({ apiKey });
    return (
      back.status === 200 && back.body.consumed_ms === 12_000 && back.body.available_ms === 88_000
    );
  });
  await expect(spend(k2, accountId, 1)).rejects.toThrow('account_moving');
  expect(await violations(k1, k2)).toEqual([]);
});

test('while an account drains, running sessions settle and new ones get 503 with Retry-After', async () => {
  const { accountId, apiKey } = await k1.service.addTenant({ creditMs: 100_000 });
  const session = (await k1.service.createSession(undefined, { apiKey })).body;
  let refusal = 0;
  let retryAfter: string | null = null;
  await moveBetween(k1, k2, accountId, {
    onStep: async (step) => {
      if (step !== 'drain') return;
      const refused = await k1.service.refusedSession(undefined, { apiKey });
      refusal = refused.status;
      retryAfter = refused.headers.get('retry-after');
      const node = { nodeId: k1.service.config.nodeId, nodeEpoch: 1 };
      const named = { sessionId: session.id, accountId, ...node };
      expect((await k1.service.deps.ledger.claim(named)).outcome).toBe('claimed');
      await k1.service.deps.ledger.close({ ...named, status: 'completed', samples: 32_000 });
    },
  });
  expect([refusal, retryAfter]).toEqual([503, '2']);
  const usage = await k2.service.usage({ apiKey });
  expect(usage.body).toMatchObject({ available_ms: 98_000, consumed_ms: 2_000 });
});

test('cancels the move when sessions outlast the wait, and serves the account again', async () => {
  const { accountId, apiKey } = await k1.service.addTenant({ creditMs: 100_000 });
  await k1.service.createSession(undefined, { apiKey });
  await expect(moveBetween(k1, k2, accountId, { drainMs: 0 })).rejects.toThrow('still open');
  const { status } = await k1.service.refusedSession(undefined, { apiKey });
  expect(status).toBe(429);
});

test('a sealed account accepts no credit, key change or setting, and the move can be cancelled', async () => {
  const { accountId, keyId } = await k1.service.addTenant({ creditMs: 100_000 });
  const { pool } = k1.service.database;
  const stop = new Error('stop');
  await expect(
    moveBetween(k1, k2, accountId, {
      onStep: (step) => {
        if (step === 'copy') throw stop;
      },
    }),
  ).rejects.toBe(stop);
  const credit = { accountId, ms: 1_000, reason: 'late', actor: 'test', id: randomUUID() };
  await expect(createLedger(pool).grant(credit)).rejects.toThrow('between two cells');
  await expect(revokeApiKey(pool, { accountId, id: keyId })).rejects.toThrow('between two cells');
  await expect(
    pool.query('update accounts set concurrency_limit = 2 where id = $1', [accountId]),
  ).rejects.toThrow('between two cells');

  expect(await cancelMove(k1.mover, accountId)).toBe(true);
  await spend(k1, accountId, 5);
  await moveBetween(k1, k2, accountId);
  const { rows } = await k2.service.database.pool.query(
    'select consumed_ms from accounts where id = $1',
    [accountId],
  );
  expect(rows).toEqual([{ consumed_ms: 5_000 }]);
  expect(await cancelMove(k1.mover, accountId)).toBe(false);
});

test('moves members with the account, and logs the move in the new cell', async () => {
  const { accountId, keyId } = await k1.service.addTenant({ creditMs: 100_000 });
  const [source, target] = [k1.service.database.pool, k2.service.database.pool];
  const email = `${randomUUID()}@radio.example`;
  await source.query(
    `with person as (
      insert into console_users (id, email) values ($1, $2) returning id
    ) insert into memberships (account_id, user_id, role) select $3, id, 'owner' from person`,
    [randomUUID(), email, accountId],
  );
  await moveBetween(k1, k2, accountId);

  const { rows } = await target.query(
    `select u.email, m.role from memberships m join console_users u on u.id = m.user_id
      where m.account_id = $1`,
    [accountId],
  );
  expect(rows).toEqual([{ email, role: 'owner' }]);
  const left = await source.query('select from console_users where email = $1', [email]);
  expect(left.rowCount).toBe(0);
  const { entries: log } = await listAuditLog(target, { accountId, limit: 50 });
  const created = log.filter(
    ({ action, target: what }) => action === 'api_key.created' && what === keyId,
  );
  expect(created).toHaveLength(1);
  expect(log.map(({ after }) => after ?? '').join()).toContain('"move_state": "arriving"');
  const { entries: here } = await listAuditLog(source, { accountId, limit: 50 });
  expect(here.map(({ after }) => after ?? '').join()).toContain('"move_state": "moved"');
  expect(await violations(k1, k2)).toEqual([]);
});

test('refuses a target that cannot verify the keys, before anything is frozen', async () => {
  const { accountId } = await k1.service.addTenant({ creditMs: 1_000 });
  await k2.service.database.pool.query('update cell_peppers set fingerprint = $1', [
    Buffer.alloc(8),
  ]);
  try {
    await expect(moveBetween(k1, k2, accountId)).rejects.toThrow(
      'cannot verify keys with pepper 0',
    );
    await spend(k1, accountId, 1);
  } finally {
    await k2.service.database.pool.query(`select report_peppers($1::smallint[], $2::bytea[])`, [
      [0],
      [await fingerprintOf(k1)],
    ]);
  }
});

async function fingerprintOf({ service }: TestCell): Promise<Buffer | undefined> {
  const { rows } = await service.database.pool.query<{ fingerprint: Buffer }>(
    'select fingerprint from cell_peppers',
  );
  return rows[0]?.fingerprint;
}

test('detects a copy that lacks a session, and does not switch', async () => {
  const { accountId } = await k1.service.addTenant({ creditMs: 100_000 });
  await spend(k1, accountId, 4);
  const { pool } = k2.service.database;
  const move = moveBetween(k1, k2, accountId, {
    onStep: async (step) => {
      if (step !== 'switch') return;
      await pool.query(
        'begin; set local session_replication_role = replica; ' +
          `delete from sessions where account_id = '${accountId}'; commit`,
      );
    },
  });
  await expect(move).rejects.toThrow(/sessions differs[^]*target: sessions-are-posted-once/);
  await cancelMove(k1.mover, accountId);
  await spend(k1, accountId, 1);
  // The rest of the copy belongs to no session, so it must not stay.
  await pool.query(
    'begin; set local session_replication_role = replica; ' +
      `delete from txn where account_id = '${accountId}'; delete from claim_log where account_id = '${accountId}'; ` +
      `delete from audit_log where account_id = '${accountId}'; ` +
      `delete from api_keys where account_id = '${accountId}'; delete from accounts where id = '${accountId}'; ` +
      `delete from idempotency where account_id = '${accountId}'; commit`,
  );
});
