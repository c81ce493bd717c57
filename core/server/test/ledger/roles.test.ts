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
/** Which functions each role may call. Every other one is closed to it. */
const CALLS = {
  svc_api: `
    live_session_expiry mark_ledger record_calls record_status rehash_api_key report_peppers request_takeover reserve_session
    status_history touch_api_keys`,
  svc_node: `
    claim_session close_session find_lost_audio give_back_session live_session_expiry mark_ledger record_calls record_streams
    register_node renew_node report_live_audio request_takeover retire_node`,
  svc_sweeper: `
    expire_reservations fail_orphans forget_idempotency mark_ledger`,
  svc_console: `
    accept_invitation approve_as_operator charged_since check_credit_levels claim_demo close_console_session close_console_sessions
    close_other_console_session create_api_key decide_credit_request_as_operator decline_as_operator decline_invitation demo_state
    erase_account expire_invitations find_console_session first_reservation_at forget_audit_sources forget_calls forget_demo_claims
    forget_person forget_session_details grant_as_operator invite_member list_console_sessions mark_ledger passkey_change_problem
    release_demo remove_passkey rename_api_key request_credit revoke_api_key roll_up_usage_by_key rotate_api_key
    set_account_status_as_operator set_allowed_origins set_concurrency_as_operator switch_console_account withdraw_invitation`,
  svc_sign_in: `
    add_passkey confirm_console_session mark_ledger open_console_session passkey_change_problem remember_places request_sign_in_code
    use_sign_in_code`,
  svc_auditor: `
    log_command record_audit`,
  svc_operator: `
    accept_ledger_history adjust_credit approve_waitlist create_api_key create_enrolment create_sign_in_code decide_credit_request
    decline_waitlist erase_account erase_waitlist_entry grant_credit log_command record_audit request_session_end reset_passkeys
    revoke_api_key set_allowed_origins set_concurrency set_key_limit set_operator status_history status_recorded`,
  svc_mover: `
    arrival_receipt begin_import cancel_move cell_link_fingerprint depart_account departure_receipt digest_account export_signed
    finish_import freeze_account import_rows log_command open_account record_audit seal_account`,
} as const satisfies Readonly<Partial<Record<DatabaseRole, string>>>;
/** The one process of a small installation does the jobs of these. */
const IN_ONE_PROCESS = [
  'svc_api',
  'svc_node',
  'svc_sweeper',
  'svc_console',
  'svc_sign_in',
] as const;

function callsOf(role: DatabaseRole): string[] {
  const roles = role === 'svc_all' ? IN_ONE_PROCESS : [role];
  const names = roles.flatMap((each) => CALLS[each].trim().split(/\s+/));
  return [...new Set([...names, 'lease_length'])].toSorted();
}

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
  test('may call the functions of its job and no others', async () => {
    const { rows } = await fixture.owner.query<{ name: string }>(
      `select distinct proname::text as name from pg_proc
        where pronamespace = 'public'::regnamespace and prorettype <> 'trigger'::regtype
          and has_function_privilege($1, oid, 'execute')`,
      [role],
    );
    expect(rows.map(({ name }) => name).toSorted()).toEqual(callsOf(role));
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
