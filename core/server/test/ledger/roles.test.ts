import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DatabaseRole } from '../../src/platform/database/db.ts';
import { findViolations } from '../../src/ledger/reports/audit.ts';
import { openLedgerFixture, type LedgerFixture } from '@svc-asr/testing/ledger/ledger-fixture.ts';

let fixture: LedgerFixture;
beforeAll(async () => {
  fixture = await openLedgerFixture();
  await fixture.account(60_000);
});
afterAll(() => fixture.drop());

const ROLES = [
  'svc_api',
  'svc_node',
  'svc_sweeper',
  'svc_console',
  'svc_sign_in',
  'svc_auditor',
  'svc_operator',
  'svc_mover',
  'svc_all',
] as const satisfies readonly DatabaseRole[];

const UUID = randomUUID();
/** Every function that changes something, and who may call it. */
const FUNCTIONS: Readonly<Record<string, readonly DatabaseRole[]>> = {
  [`reserve_session('${UUID}', '${UUID}', false, null, 'm', 1000, null, null, null, null)`]: [
    'svc_api',
    'svc_all',
  ],
  [`touch_api_keys(array['x'])`]: ['svc_api', 'svc_all'],
  [`claim_session('${UUID}', '${UUID}', '${UUID}', 'n', 1)`]: ['svc_node', 'svc_all'],
  [`close_session('${UUID}', '${UUID}', 'failed', 0, 'n', 1, null)`]: ['svc_node', 'svc_all'],
  [`register_node('n', 'wss://n', array['m'], 1, null)`]: ['svc_node', 'svc_all'],
  [`record_status(array['api'], array['api'])`]: ['svc_api', 'svc_all'],
  [`renew_node('n', 1, 0, 1, false)`]: ['svc_node', 'svc_all'],
  [`retire_node('n', 1)`]: ['svc_node', 'svc_all'],
  [`record_streams('n', '[]')`]: ['svc_node', 'svc_all'],
  [`roll_up_usage_by_key('${UUID}', 1)`]: ['svc_console', 'svc_all'],
  [`forget_session_details(1)`]: ['svc_console', 'svc_all'],
  [`record_calls('[]')`]: ['svc_api', 'svc_node', 'svc_all'],
  [`check_credit_levels(1)`]: ['svc_console', 'svc_all'],
  [`forget_calls()`]: ['svc_console', 'svc_all'],
  [`claim_demo('\\x00', 1, '\\x00')`]: ['svc_console', 'svc_all'],
  [`demo_state('\\x00', 1, '\\x00', '${UUID}', 1)`]: ['svc_console', 'svc_all'],
  [`release_demo('\\x00')`]: ['svc_console', 'svc_all'],
  [`forget_demo_claims()`]: ['svc_console', 'svc_all'],
  [`request_credit('${UUID}', '${UUID}', null, 60000, '')`]: ['svc_console', 'svc_all'],
  [`approve_as_operator('x', '${UUID}', '${UUID}', 1, '')`]: ['svc_console', 'svc_all'],
  [`decline_as_operator('x', '${UUID}', '')`]: ['svc_console', 'svc_all'],
  [`set_account_status_as_operator('x', '${UUID}', 'active', '')`]: ['svc_console', 'svc_all'],
  [`set_concurrency_as_operator('x', '${UUID}', 1, 'r')`]: ['svc_console', 'svc_all'],
  [`grant_as_operator('x', '${UUID}', 1, 'r', '${UUID}')`]: ['svc_console', 'svc_all'],
  [`decide_credit_request_as_operator('x', '${UUID}', 1, 'r')`]: ['svc_console', 'svc_all'],
  [`grant_within_limit('${UUID}', 'a', '${UUID}', 1, 'r', '${UUID}')`]: [],
  [`record_audit('[]', false)`]: ['svc_auditor', 'svc_operator', 'svc_mover'],
  [`expire_reservations(1)`]: ['svc_sweeper', 'svc_all'],
  [`fail_orphans(1)`]: ['svc_sweeper', 'svc_all'],
  [`forget_idempotency(1)`]: ['svc_sweeper', 'svc_all'],
  [`mark_ledger('${UUID}', 'n', 0, null, null, null, null)`]: [
    'svc_api',
    'svc_node',
    'svc_sweeper',
    'svc_console',
    'svc_sign_in',
    'svc_all',
  ],
  [`accept_ledger_history('why')`]: ['svc_operator'],
  [`create_api_key('${UUID}', 'abcdefghijkl', '\\x00', '', null, null, 0::smallint)`]: [
    'svc_console',
    'svc_operator',
    'svc_all',
  ],
  [`revoke_api_key('${UUID}', 'x')`]: ['svc_console', 'svc_operator', 'svc_all'],
  [`grant_credit('${UUID}', 1, 'r', 'a', '${UUID}')`]: ['svc_operator'],
  [`adjust_credit('${UUID}', 1, 'r', 'a', '${UUID}')`]: ['svc_operator'],
  [`set_concurrency('${UUID}', 1)`]: ['svc_operator'],
  [`set_key_limit('${UUID}', 1)`]: ['svc_operator'],
  [`lock_keys('${UUID}')`]: [],
  [`rotate_api_key('${UUID}', 'a', 'b', '\\x00', null, 0::smallint)`]: ['svc_console', 'svc_all'],
  [`create_sign_in_code('x', '${UUID}', '\\x00', interval '1 s')`]: ['svc_operator'],
  [`approve_waitlist('${UUID}', '${UUID}', 'a')`]: ['svc_operator'],
  [`decline_waitlist('${UUID}', 'a', 'r')`]: ['svc_operator'],
  [`erase_waitlist_entry('${UUID}')`]: ['svc_operator'],
  [`decide_credit_request('${UUID}', 1, 'r', 'a')`]: ['svc_operator'],
  [`lock_credit_request('${UUID}', 'r')`]: [],
  [`close_credit_request('${UUID}', 1, 'r')`]: [],
  [`report_peppers('{}', '{}')`]: ['svc_api', 'svc_all'],
  [`freeze_account('${UUID}', 'k2')`]: ['svc_mover'],
  [`seal_account('${UUID}', '${UUID}')`]: ['svc_mover'],
  [`cancel_move('${UUID}')`]: ['svc_mover'],
  [`export_account('${UUID}')`]: [],
  [`export_signed('${UUID}', '${UUID}')`]: ['svc_mover'],
  [`digest_account('${UUID}')`]: ['svc_mover'],
  [`begin_import('${UUID}', 'k1', '{}')`]: ['svc_mover'],
  [`import_rows('${UUID}', '${UUID}', 'txn', '{}')`]: ['svc_mover'],
  [`finish_import('${UUID}', '${UUID}', '')`]: ['svc_mover'],
  [`arrival_receipt('${UUID}', '${UUID}')`]: ['svc_mover'],
  [`depart_account('${UUID}', '${UUID}', '')`]: ['svc_mover'],
  [`departure_receipt('${UUID}', '${UUID}')`]: ['svc_mover'],
  [`open_account('${UUID}', '${UUID}', '')`]: ['svc_mover'],
  [`import_audit('{}', 'k1')`]: [],
  [`link_cell('k1', '\\x00')`]: [],
  [`sign_move('k1', '')`]: [],
  [`set_cell('k1')`]: [],
  [`post('${UUID}', 'grant', null, now(), 1, 0, 0)`]: [],
  [`post_credit('${UUID}', 'grant', 1, 'r', 'a', '${UUID}')`]: [],
};

/** Statements that no role may run. */
const BY_HAND = [
  `update accounts set available_ms = 1000000`,
  `update accounts set concurrency_limit = 100`,
  `insert into accounts (id, name, granted_ms) values ('${UUID}', 'x', 1)`,
  `delete from accounts`,
  `update sessions set billable_ms = 0`,
  `insert into sessions (account_id, id) values ('${UUID}', '${UUID}')`,
  `delete from sessions`,
  `insert into txn (account_id, seq) values ('${UUID}', 1)`,
  `update txn set available_ms = 0`,
  `delete from txn`,
  `truncate txn`,
  `delete from claim_log`,
  `insert into claim_log (account_id, session_id) values ('${UUID}', '${UUID}')`,
  `update idempotency set expires_at = now()`,
  `update nodes set lease_until = 'infinity'`,
  `update ledger_marks set accepted_at = now()`,
  `update ledger_audits set violations = 0`,
  `delete from operator_grants`,
  `update credit_requests set status = 'granted'`,
  `update sweeper_watch set quiet_until = 'infinity'`,
  `update api_keys set revoked_at = null`,
  `insert into api_keys (id, account_id, hmac) values ('abcdefghijkl', '${UUID}', '\\x00')`,
  `create table mine (id int)`,
  `set session_replication_role = replica`,
];

async function isRefused(role: DatabaseRole, statement: string): Promise<boolean> {
  const client = await fixture.database.as(role).connect();
  try {
    await client.query('begin');
    await client.query(statement);
    return false;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    return code === '42501';
  } finally {
    await client.query('rollback');
    client.release();
  }
}

describe.for(ROLES)('%s', (role) => {
  test('calls the functions of its job and no others', async () => {
    const refused: string[] = [];
    for (const call of Object.keys(FUNCTIONS)) {
      if (await isRefused(role, `select ${call}`)) refused.push(call);
    }
    const foreign = Object.entries(FUNCTIONS)
      .filter(([, roles]) => !roles.includes(role))
      .map(([call]) => call);
    expect(refused).toEqual(foreign);
  });

  test('cannot write money, sessions, keys or leases by hand', async () => {
    const allowed: string[] = [];
    for (const statement of BY_HAND) {
      if (!(await isRefused(role, statement))) allowed.push(statement);
    }
    expect(allowed).toEqual([]);
  });
});

test('only the API reads the hashes of keys', async () => {
  const readers: string[] = [];
  for (const role of ROLES) {
    if (!(await isRefused(role, 'select hmac from api_keys'))) readers.push(role);
  }
  expect(readers).toEqual(['svc_api', 'svc_all']);
});

test('a node and a sweeper cannot read account balances', async () => {
  for (const role of ['svc_node', 'svc_sweeper'] as const) {
    expect(await isRefused(role, 'select available_ms from accounts')).toBe(true);
    expect(await isRefused(role, 'select * from txn')).toBe(true);
  }
});

test('an auditor can run every invariant and change nothing', async () => {
  expect(await findViolations(fixture.database.as('svc_auditor'))).toEqual([]);
});

test('every SECURITY DEFINER function has a fixed search_path', async () => {
  const { rows } = await fixture.owner.query<{ proname: string; prosrc: string }>(
    `select proname, prosrc from pg_proc
      where pronamespace = 'public'::regnamespace and prosecdef
        and not coalesce(proconfig::text like '%search_path=public, pg_temp%', false)`,
  );
  // The deferred checks name the schema instead: a setting would cost more than the check.
  for (const { proname, prosrc } of rows) {
    expect(proname).toMatch(/^check_/);
    expect(prosrc.match(/(from|join) (?!public\.)[a-z]/g)).toBeNull();
  }
});
