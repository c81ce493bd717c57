import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPool, isDatabaseUnavailable, type Pool } from '../../src/platform/database/db.ts';
import { isCloseRefused } from '../../src/ledger/close.ts';
import { createLedger, type CloseInput } from '../../src/ledger/ledger.ts';
import { Settlements } from '../../src/gateway/settlements.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { NODE, openCheckedLedgerFixture } from '@svc-asr/testing/ledger/ledger-fixture.ts';
import { withDatabase } from '@svc-asr/local/local-postgres.ts';
import { onServer } from '@svc-asr/testing/postgres/test-database.ts';

/** Which errors end a settlement for good, and which only delay it. */

const fixture = await openCheckedLedgerFixture();

/** A claimed session with 1.2 s of audio to settle. */
async function streamed(): Promise<CloseInput> {
  const session = await fixture.reserve(await fixture.account(10_000), { requestedMs: 8_000 });
  const owner = {
    sessionId: session.id,
    accountId: session.accountId,
    nodeId: NODE.id,
    nodeEpoch: fixture.nodeEpoch,
    upgradeId: randomUUID(),
  };
  await fixture.ledger.claim(owner);
  return { ...owner, status: 'completed', samples: 19_200 };
}

async function refusal(settlement: CloseInput): Promise<unknown> {
  const error = await fixture.ledger.close(settlement).catch((failure: unknown) => failure);
  expect(isCloseRefused(error), String(error)).toBe(true);
  return error;
}

describe('permanent refusals', () => {
  test('a session that does not exist', async () => {
    const lost = { ...(await streamed()), sessionId: randomUUID() };
    expect(await refusal(lost)).toMatchObject({ code: 'SVC01' });
  });

  test('a status that no close has', async () => {
    const odd: CloseInput = { ...(await streamed()), status: JSON.parse('"expired"') };
    expect(await refusal(odd)).toMatchObject({ code: 'SVC02' });
  });

  test('a session of another node', async () => {
    const foreign = { ...(await streamed()), nodeEpoch: fixture.nodeEpoch + 1 };
    expect(await refusal(foreign)).toMatchObject({ code: 'SVC03' });
  });

  test('a session that was never claimed', async () => {
    const session = await fixture.reserve(await fixture.account(10_000));
    const { id: sessionId, accountId } = session;
    expect(await refusal({ ...(await streamed()), sessionId, accountId })).toMatchObject({
      code: 'SVC04',
    });
  });
});

interface Fault {
  readonly name: string;
  readonly code: string;
  /** Whether callers of the API are told that the database is down. */
  readonly isOutage: boolean;
  readonly begin: readonly string[];
  readonly end: readonly string[];
}

const CLOSE =
  'function close_session(uuid, uuid, text, bigint, text, bigint, uuid, uuid, bigint, bigint[], text[], boolean)';
const END_CONNECTIONS = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = 'NAME' and pid <> pg_backend_pid()`;

/** `NAME` is the database, `ACCOUNT` the account. Statements of `server` faults run from another database. */
const FAULTS: readonly (Fault & { readonly where: 'server' | 'database' })[] = [
  {
    name: 'the database accepts no connections',
    code: '55000',
    isOutage: true,
    where: 'server',
    begin: ['alter database NAME allow_connections false', END_CONNECTIONS],
    end: ['alter database NAME allow_connections true'],
  },
  {
    name: 'the database has another name for a moment',
    code: '3D000',
    isOutage: false,
    where: 'server',
    begin: [
      'alter database NAME allow_connections false',
      END_CONNECTIONS,
      'alter database NAME rename to NAME_away',
    ],
    end: ['alter database NAME_away rename to NAME', 'alter database NAME allow_connections true'],
  },
  {
    name: 'the database is read-only',
    code: '25006',
    isOutage: true,
    where: 'server',
    begin: ['alter database NAME set default_transaction_read_only = on', END_CONNECTIONS],
    end: ['alter database NAME reset default_transaction_read_only', END_CONNECTIONS],
  },
  {
    name: 'the role lacks the permission',
    code: '42501',
    isOutage: false,
    where: 'database',
    begin: [`revoke execute on ${CLOSE} from svc_all, svc_node`],
    end: [`grant execute on ${CLOSE} to svc_all, svc_node`],
  },
  {
    name: 'the function is missing',
    code: '42883',
    isOutage: false,
    where: 'database',
    begin: [`alter ${CLOSE} rename to close_session_later`],
    end: [
      `alter function close_session_later(uuid, uuid, text, bigint, text, bigint, uuid, uuid, bigint, bigint[], text[], boolean) rename to close_session`,
    ],
  },
  {
    name: 'a column is missing',
    code: '42703',
    isOutage: false,
    where: 'database',
    begin: ['alter table sessions rename column completed_at to ended_at'],
    end: ['alter table sessions rename column ended_at to completed_at'],
  },
  {
    name: 'the account is between two cells',
    code: '23000',
    isOutage: false,
    where: 'database',
    begin: [
      `alter table accounts disable trigger user`,
      `update accounts set move_state = 'sealed', move_id = gen_random_uuid(), move_cell = 'b' where id = 'ACCOUNT'`,
      `alter table accounts enable trigger user`,
    ],
    end: [
      `alter table accounts disable trigger user`,
      `update accounts set move_state = null, move_id = null, move_cell = null where id = 'ACCOUNT'`,
      `alter table accounts enable trigger user`,
    ],
  },
  {
    name: 'a constraint is violated until an operator repairs it',
    code: '23514',
    isOutage: false,
    where: 'database',
    begin: [`alter table accounts add constraint odd check (consumed_ms = 0) not valid`],
    end: [`alter table accounts drop constraint odd`],
  },
];

async function run(
  statements: readonly string[],
  input: { where: 'server' | 'database'; accountId: string },
): Promise<void> {
  const { url } = fixture.database;
  const name = new URL(url).pathname.slice(1);
  await onServer(input.where === 'server' ? withDatabase(url, 'postgres') : url, async (db) => {
    for (const sql of statements) {
      await db.query(sql.replaceAll('NAME', name).replaceAll('ACCOUNT', input.accountId));
    }
  });
}

describe('errors that heal', () => {
  let pool: Pool;
  beforeAll(() => {
    pool = createPool({ url: fixture.database.url, role: 'svc_all' });
  });
  afterAll(() => pool.end());

  test.for(FAULTS)('$code: $name', async (fault) => {
    const settlement = await streamed();
    const { accountId } = settlement;
    const ledger = createLedger(pool);
    const causes: unknown[] = [];
    const lost: unknown[] = [];
    const settlements = new Settlements({
      write: async () => {
        await ledger.close(settlement).catch((error: unknown) => {
          causes.push(error);
          throw error;
        });
      },
      onDelayed: () => {},
      onLost: (_, cause) => lost.push(cause),
    });
    await run(fault.begin, { where: fault.where, accountId });
    const settled = settlements.settle(settlement);
    const isExpected = (error: unknown): boolean =>
      error instanceof Error && 'code' in error && error.code === fault.code;
    await eventually(() => causes.filter(isExpected).length >= 2);
    await run(fault.end, { where: fault.where, accountId });
    await settled;
    expect(lost).toEqual([]);
    const cause = causes.find(isExpected);
    expect(isCloseRefused(cause)).toBe(false);
    expect(isDatabaseUnavailable(cause)).toBe(fault.isOutage);
    await eventually(
      async () => (await fixture.owner.query('select 1').catch(() => null)) !== null,
    );
    expect(await fixture.ledger.balance(accountId)).toMatchObject({
      availableMs: 8_000,
      recentSessions: [{ status: 'completed', billableMs: 2_000 }],
    });
  });
});
