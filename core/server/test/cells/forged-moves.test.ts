import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { inTransaction } from '../../src/platform/database/db.ts';
import { listAuditLog } from '../../src/accounts/logs/audit-log.ts';
import { linkCells } from '../../src/cells/link-cells.ts';
import { moveBetween, spend, openCells, violations, type TestCell } from './two-cells.ts';

/** Attacks with a stolen login of the mover, in both databases. */

const [k1, k2] = await openCells();

interface Part {
  readonly part: string;
  readonly content: string;
}
const STOP = new Error('stop');

/** Moves the account up to the given step, and returns the id of the move. */
async function moveUntil(step: string, accountId: string): Promise<string> {
  const onStep = (next: string) => {
    if (next === step) throw STOP;
  };
  await expect(moveBetween(k1, k2, accountId, { onStep })).rejects.toBe(STOP);
  return moveIdOf(k1, accountId);
}

async function moveIdOf({ service }: TestCell, accountId: string): Promise<string> {
  const sql = 'select move_id from accounts where id = $1';
  const { rows } = await service.database.pool.query<{ move_id: string }>(sql, [accountId]);
  return rows[0]?.move_id ?? '';
}

async function exported(accountId: string, moveId: string): Promise<Part[]> {
  const sql = 'select part, content from export_signed($1, $2)';
  return (await k1.mover.query<Part>(sql, [accountId, moveId])).rows;
}

/** Imports these rows into k2 as the mover does. */
function importInto(
  accountId: string,
  moveId: string,
  parts: readonly Part[],
  from = 'k1',
): Promise<void> {
  return inTransaction(k2.mover, async (db) => {
    for (const { part, content } of parts) {
      if (part === 'account') {
        await db.query('select begin_import($1, $2, $3)', [moveId, from, content]);
      } else if (part === 'signature') {
        await db.query('select finish_import($1, $2, $3)', [accountId, moveId, content]);
      } else {
        await db.query('select import_rows($1, $2, $3, $4)', [accountId, moveId, part, [content]]);
      }
    }
  });
}

async function existsIn({ service }: TestCell, accountId: string): Promise<boolean> {
  const { rowCount } = await service.database.pool.query('select from accounts where id = $1', [
    accountId,
  ]);
  return rowCount === 1;
}

/** A made-up account with five hours of credit, an owner and a log entry of an operator. */
function forgedAccount(accountId: string): Part[] {
  const at = new Date().toISOString();
  const account = { id: accountId, name: 'forged', email: 'mallory@example.com', status: 'active' };
  const limits = { concurrency_limit: 100, limit_changed_at: at, created_at: at };
  const balance = {
    granted_ms: 18_000_000,
    available_ms: 18_000_000,
    reserved_ms: 0,
    consumed_ms: 0,
  };
  const txn = { id: randomUUID(), account_id: accountId, seq: 1, kind: 'grant', created_at: at };
  const amounts = {
    granted_ms: -18_000_000,
    available_ms: 18_000_000,
    reserved_ms: 0,
    consumed_ms: 0,
  };
  const after = { available_after_ms: 18_000_000, reserved_after_ms: 0, consumed_after_ms: 0 };
  const rows: [string, object][] = [
    ['account', { ...account, ...limits, ...balance, last_seq: 1 }],
    [
      'txn',
      { ...txn, ...amounts, ...after, actor: 'nobody', reason: 'forged', request_id: randomUUID() },
    ],
    [
      'members',
      {
        account_id: accountId,
        user_id: randomUUID(),
        role: 'owner',
        joined_at: at,
        email: 'mallory@example.com',
        language: 'en',
        created_at: at,
      },
    ],
    [
      'audit',
      {
        account_id: accountId,
        at,
        login: 'login_operator',
        action: 'credit.grant',
        target: `${accountId}/1`,
      },
    ],
  ];
  return rows.map(([part, content]) => ({ part, content: JSON.stringify(content) }));
}

function signature(content: string): Part {
  return { part: 'signature', content };
}

test('the signature in SQL is HMAC-SHA-256', async () => {
  const [key, message] = [randomBytes(32), randomBytes(200)];
  const { rows } = await k1.service.database.pool.query<{ mac: Buffer }>(
    'select hmac_sha256($1, $2) as mac',
    [key, message],
  );
  expect(rows[0]?.mac).toEqual(createHmac('sha256', key).update(message).digest());
});

test('a made-up account is refused, with or without a guessed signature, and leaves nothing', async () => {
  const [accountId, moveId] = [randomUUID(), randomUUID()];
  const rows = forgedAccount(accountId);
  await expect(importInto(accountId, moveId, [...rows, signature('0'.repeat(64))])).rejects.toThrow(
    'cell k1 did not sign this',
  );
  await expect(
    importInto(accountId, moveId, [...rows, signature('0'.repeat(64))], 'k9'),
  ).rejects.toThrow('no link with cell k9');
  await expect(importInto(accountId, moveId, rows)).rejects.toThrow('copy of account');
  expect(await existsIn(k2, accountId)).toBe(false);
  const { rowCount } = await k2.service.database.pool.query(
    `select from console_users where email = 'mallory@example.com'`,
  );
  expect(rowCount).toBe(0);
});

test.for<[string, (rows: readonly Part[]) => Part[]]>([
  [
    'more credit',
    (rows) =>
      rows.map((row) => ({
        ...row,
        content:
          row.part === 'signature' ? row.content : row.content.replaceAll('100000', '900000'),
      })),
  ],
  [
    'another author',
    (rows) =>
      rows.map((row) =>
        row.part === 'audit'
          ? { ...row, content: row.content.replace('"login": "', '"login": "x') }
          : row,
      ),
  ],
  [
    'a missing entry',
    (rows) => rows.filter(({ part }, at) => part !== 'audit' || rows[at + 1]?.part === 'audit'),
  ],
  [
    'an added owner',
    (rows) =>
      rows.flatMap((row) => (row.part === 'signature' ? [...addedOwner(rows), row] : [row])),
  ],
  [
    'rows in another order',
    (rows) => [...rows.slice(0, 1), ...rows.slice(1, -1).toReversed(), ...rows.slice(-1)],
  ],
])('a copy with %s is refused', async ([, change]) => {
  const { accountId } = await k1.service.addTenant({ creditMs: 100_000 });
  const moveId = await moveUntil('copy', accountId);
  const rows = await exported(accountId, moveId);
  const changed = change(rows);
  expect(changed).not.toEqual(rows);
  await expect(importInto(accountId, moveId, changed)).rejects.toThrow('did not sign this');
  expect(await existsIn(k2, accountId)).toBe(false);
  await moveBetween(k1, k2, accountId);
});

function addedOwner(rows: readonly Part[]): Part[] {
  const { id }: { id: string } = JSON.parse(rows[0]?.content ?? '{}');
  return forgedAccount(id).filter(({ part }) => part === 'members');
}

test('only a sealed account is signed, and a copy opens only after the source has let go', async () => {
  const { accountId } = await k1.service.addTenant({ creditMs: 100_000 });
  await expect(exported(accountId, randomUUID())).rejects.toThrow('not sealed');
  const moveId = await moveUntil('switch', accountId);
  const open = (receipt: string | null) =>
    k2.mover.query('select open_account($1, $2, $3)', [accountId, moveId, receipt]);
  await expect(open(null)).rejects.toThrow('cell k1 did not sign this');
  const { rows } = await k1.mover.query<{ receipt: string | null }>(
    'select departure_receipt($1, $2) as receipt',
    [accountId, moveId],
  );
  expect(rows[0]?.receipt ?? null).toBeNull();
  await moveBetween(k1, k2, accountId);
  await spend(k2, accountId, 1);
});

test('an account leaves only for a cell that has it', async () => {
  const { accountId } = await k1.service.addTenant({ creditMs: 100_000 });
  const moveId = await moveUntil('copy', accountId);
  const depart = k1.mover.query('select depart_account($1, $2, $3)', [accountId, moveId, 'x']);
  await expect(depart).rejects.toThrow('cell k2 did not sign this');
  await moveBetween(k1, k2, accountId);
});

test('an old copy with more credit is worthless after a cancelled move and after a return', async () => {
  const { accountId } = await k1.service.addTenant({ creditMs: 100_000 });
  const cancelled = await moveUntil('copy', accountId);
  const early = await exported(accountId, cancelled);
  await k1.mover.query('select cancel_move($1)', [accountId]);
  await spend(k1, accountId, 40);
  // Signed, but k1 never lets go under this move.
  await importInto(accountId, cancelled, early);
  const moveId = await moveUntil('copy', accountId);
  expect(moveId).not.toBe(cancelled);
  const rows = await exported(accountId, moveId);
  await moveBetween(k1, k2, accountId);
  await spend(k2, accountId, 20);
  await moveBetween(k2, k1, accountId);
  await expect(importInto(accountId, moveId, rows)).rejects.toThrow('has arrived before');
  await expect(importInto(accountId, cancelled, early)).rejects.toThrow(
    'knows more of the history',
  );
  const usage = await k1.service.deps.ledger.balance(accountId);
  expect(usage).toMatchObject({ availableMs: 40_000, consumedMs: 60_000 });
  expect(await violations(k1, k2)).toEqual([]);
});

test('imported log entries name their cell and the importing login, and the import is logged', async () => {
  const { accountId } = await k1.service.addTenant({ creditMs: 100_000 });
  await moveBetween(k1, k2, accountId);
  const { rows } = await k2.mover.query<{ login: string }>('select session_user as login');
  const { entries: log } = await listAuditLog(k2.service.database.pool, { accountId, limit: 50 });
  const grant = log.find(({ action }) => action === 'credit.grant');
  expect(grant).toMatchObject({ imported_from: 'k1', imported_by: rows[0]?.login });
  const imported = log.find(({ action }) => action === 'account.imported');
  expect(imported).toMatchObject({ actor: rows[0]?.login, imported_from: null });
  expect(imported?.after).toContain('"available_ms": 100000');
});

test('the mover reads no secret of a link, and a new one works at once', async () => {
  const forbidden = [
    'select key from cell_links',
    `select sign_move('k1', 'x')`,
    `select link_cell('k1', '')`,
  ];
  for (const sql of forbidden) {
    await expect(k2.mover.query(sql)).rejects.toThrow('permission denied');
  }
  const { accountId } = await k1.service.addTenant({ creditMs: 100_000 });
  const moveId = await moveUntil('copy', accountId);
  const rows = await exported(accountId, moveId);
  await linkCells(k1.service.database.pool, k2.service.database.pool);
  await expect(importInto(accountId, moveId, rows)).rejects.toThrow('did not sign this');
  await moveBetween(k1, k2, accountId);
});
