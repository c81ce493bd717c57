import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  insertApiKey,
  insertSuccessor,
  listApiKeys,
  revokeApiKey,
} from '../../src/accounts/keys/api-keys.ts';
import { setKeyLimit } from '../../src/accounts/accounts.ts';
import { openCheckedLedgerFixture } from '@svc-asr/testing/ledger/ledger-fixture.ts';

/** These guards bind the schema owner too, and so every role. */
const fixture = await openCheckedLedgerFixture();

async function refusal(sql: string, values: readonly unknown[] = []): Promise<string> {
  const client = await fixture.owner.connect();
  try {
    await client.query('begin');
    await client.query(sql, [...values]);
    await client.query('commit');
    return 'the statement was accepted';
  } catch (error) {
    await client.query('rollback');
    return error instanceof Error ? error.message : '';
  } finally {
    client.release();
  }
}

function setSession(id: string, change: string): Promise<string> {
  return refusal(`update sessions set ${change} where id = $1`, [id]);
}

test('the ledger only grows', async () => {
  await fixture.account(1_000);
  for (const sql of [
    'update txn set available_ms = 0',
    'delete from txn',
    'truncate txn',
    'delete from sessions',
    'truncate sessions cascade',
    'delete from claim_log',
    `update claim_log set node_id = 'x'`,
    'truncate claims_given_back',
    'truncate claim_log',
  ]) {
    await fixture.reserve(await fixture.account(60_000)).then((session) => fixture.claim(session));
    expect(await refusal(sql), sql).toContain('is not allowed');
  }
});

test('a balance cannot change without a transaction', async () => {
  const accountId = await fixture.account(5_000);
  const changes = [
    'available_ms = available_ms + 1, granted_ms = granted_ms + 1',
    'available_ms = available_ms - 1000, consumed_ms = consumed_ms + 1000',
    'available_ms = available_ms + 1, granted_ms = granted_ms + 1, last_seq = last_seq + 1',
    'last_seq = last_seq + 1',
  ];
  for (const change of changes) {
    const said = await refusal(`update accounts set ${change} where id = $1`, [accountId]);
    expect(said, change).toContain('not what its ledger says');
  }
  const uneven = 'update accounts set available_ms = available_ms + 1 where id = $1';
  expect(await refusal(uneven, [accountId])).toContain('accounts_balance_adds_up');
  const below = `update accounts set available_ms = available_ms - 6000, consumed_ms = 6000 where id = $1`;
  expect(await refusal(below, [accountId])).toContain('milliseconds');
});

test('refuses a transaction that does not sum to zero, skips a number or has no owner', async () => {
  const accountId = await fixture.account(5_000);
  const insert = (values: string) =>
    refusal(
      `insert into txn (account_id, seq, kind, session_id, request_id, actor, reason, granted_ms, available_ms,
        reserved_ms, consumed_ms, available_after_ms, reserved_after_ms, consumed_after_ms, created_at)
        values ($1, ${values}, clock_timestamp())`,
      [accountId],
    );
  const id = `'${randomUUID()}'`;
  expect(await insert(`2, 'grant', null, ${id}, 'a', 'r', 0, 7, 0, 0, 5007, 0, 0`)).toContain(
    'sum_to_zero',
  );
  expect(await insert(`2, 'grant', null, ${id}, 'a', 'r', -7, 7, 0, 0, 5007, 0, 0`)).toContain(
    'continue',
  );
  expect(await insert(`3, 'grant', null, ${id}, 'a', 'r', -7, 7, 0, 0, 5007, 0, 0`)).toContain(
    'continue',
  );
  expect(await insert(`2, 'grant', null, null, 'a', 'r', -7, 7, 0, 0, 5007, 0, 0`)).toContain(
    'txn_fields_of_kind',
  );
  expect(
    await insert(`2, 'reserve', ${id}, null, null, null, 0, -1000, 1000, 0, 4000, 1000, 0`),
  ).toContain('match its session');
});

test('a closed session never changes, and no session returns to an earlier state', async () => {
  const over = await fixture.reserve(await fixture.account(60_000));
  await fixture.claim(over);
  await fixture.close(over, { samples: 16_000 });
  const active = await fixture.reserve(await fixture.account(60_000));
  await fixture.claim(active);
  const waiting = await fixture.reserve(await fixture.account(60_000));
  expect(await setSession(over.id, `samples = 0`)).toContain('never changes');
  expect(await setSession(over.id, `status = 'failed', billable_ms = 0`)).toContain(
    'never changes',
  );
  expect(await setSession(active.id, `status = 'reserved'`)).toContain('no status goes back');
  expect(await setSession(waiting.id, `status = 'completed'`)).toContain('no status goes back');
  expect(await setSession(active.id, `billable_ms = 1000`)).toContain('sessions_billed_by_samples');
  const failed = `status = 'failed', slot = null, completed_at = now(), samples = 16000, audio_ms = 1000`;
  expect(await setSession(active.id, `${failed}, billable_ms = 1000`)).toContain(
    'sessions_billed_by_samples',
  );
  expect(await setSession(active.id, `${failed}, billable_ms = 0`)).toContain('do not hold');
});

test('refuses a second session in the same slot, and one without a reservation', async () => {
  const session = await fixture.reserve(await fixture.account(600_000));
  const copy = (slot: number) =>
    refusal(
      `insert into sessions (account_id, id, model, slot, reserved_ms, remaining_ms, websocket_url, node_id,
        created_at, expires_at)
        select account_id, gen_random_uuid(), model, ${slot}, reserved_ms, remaining_ms, websocket_url, node_id,
        created_at, expires_at from sessions where id = $1`,
      [session.id],
    );
  expect(await copy(1)).toContain('sessions_live');
  expect(await copy(2)).toContain('do not hold');
});

test('K01 an account has ten live keys unless an operator changes its limit; revoked and expired keys do not count', async () => {
  const accountId = await fixture.account(0);
  const add = (id: string, expiresAt: Date | null = null) =>
    insertApiKey(fixture.owner, { id, accountId, hmac: Buffer.alloc(32), expiresAt });
  const ids = Array.from({ length: 12 }, (_, at) => `key0000000${10 + at}`);
  const raced = await Promise.all(ids.map((id) => add(id)));
  expect(raced.filter(Boolean)).toHaveLength(10);
  const [newest] = await listApiKeys(fixture.owner, accountId);
  expect(await revokeApiKey(fixture.owner, { accountId, id: newest?.id ?? '' })).toBe(true);
  expect(await revokeApiKey(fixture.owner, { accountId: randomUUID(), id: newest?.id ?? '' })).toBe(
    false,
  );
  expect(await add('key000000004', new Date(Date.now() - 1_000))).toBe(true);
  expect(await add('key000000005')).toBe(true);
  expect(await add('key000000006')).toBe(false);
  await setKeyLimit(fixture.owner, { id: accountId, limit: 11 });
  expect(await add('key000000006')).toBe(true);
  expect(await add('key000000007')).toBe(false);
});

test('a live key has one successor, however many ask at once, and the successor of a live key has none', async () => {
  const accountId = await fixture.account(0);
  await setKeyLimit(fixture.owner, { id: accountId, limit: 1 });
  const common = { accountId, hmac: Buffer.alloc(32), expiresAt: null, pepperId: 0 };
  await insertApiKey(fixture.owner, { id: 'first0000000', ...common, name: 'server' });
  const rotate = (oldId: string, id: string) =>
    insertSuccessor(fixture.owner, { ...common, oldId, id });
  const raced = await Promise.all(
    ['next00000001', 'next00000002', 'next00000003'].map((id) => rotate('first0000000', id)),
  );
  expect(raced.toSorted()).toEqual(['created', 'rotated', 'rotated']);
  const keys = await listApiKeys(fixture.owner, accountId);
  expect(keys.map(({ name }) => name)).toEqual(['server', 'server']);
  const next = keys.find(({ id }) => id !== 'first0000000')?.id ?? '';
  expect(keys.find(({ id }) => id === 'first0000000')?.successorId).toBe(next);
  expect(await rotate(next, 'third0000000')).toBe('rotated');
  await revokeApiKey(fixture.owner, { accountId, id: 'first0000000' });
  expect(await rotate('first0000000', 'third0000000')).toBe('not_live');
  expect(await rotate(next, 'third0000000')).toBe('created');
  expect(await rotate('nosuchkey000', 'fourth000000')).toBe('not_live');
});

test('an account with a high limit gets no slot number that does not exist', async () => {
  const id = await fixture.account(60_000);
  const client = await fixture.owner.connect();
  try {
    await client.query('begin');
    // Without checks at each row, because ten thousand of them would take minutes.
    await client.query('set local session_replication_role = replica');
    await client.query(
      `update accounts set concurrency_limit = 9000, reserved_ms = 10000000, granted_ms = granted_ms + 10000000
        where id = $1`,
      [id],
    );
    await client.query(
      `insert into sessions (account_id, id, model, slot, status, reserved_ms, remaining_ms, websocket_url, node_id,
          node_epoch, upgrade_id, created_at, claimed_at, expires_at)
        select $1, gen_random_uuid(), 'm', n, 'active', 1000, 0, 'wss://n', 'n', 1, $1, now(), now(), now() + interval '1 minute'
        from generate_series(1, 10000) n`,
      [id],
    );
    await client.query(
      `insert into session_takeovers (session_id, account_id, proof)
        select id, account_id, 'proof' from sessions where account_id = $1 and slot > 5000`,
      [id],
    );
    const { rows } = await client.query<{ outcome: string }>(
      `select outcome from reserve_session($1, $2, false, null, 'm', 1000, null, null, 'n', 'wss://n')`,
      [id, randomUUID()],
    );
    expect(rows).toEqual([{ outcome: 'concurrency_limit_exceeded' }]);
  } finally {
    await client.query('rollback');
    client.release();
  }
});
