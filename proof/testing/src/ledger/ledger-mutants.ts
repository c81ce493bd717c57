import type { SqlChange } from '../postgres/mutate-function.ts';
import type { PromiseName } from './ledger-promises.ts';

/** One way to break the ledger's SQL, the promise it violates, and the check that must detect it. */
export interface Mutant {
  readonly name: string;
  readonly changes: readonly SqlChange[];
  readonly violates: PromiseName;
  readonly detectedBy: 'database' | 'audit' | 'promise';
}

const SPENT: PromiseName = 'accepted audio is charged and the rest is returned';
const REPLAYED: PromiseName = 'audio that is sent again is charged once';
const LOST_ROOM: PromiseName = 'a lost session makes room for another, up to twice the limit';
const UNPAID: PromiseName = 'audio that is sent again is charged if it was not paid';
const SELECT_SESSION =
  'select * into v_session from sessions s where s.account_id = p_account and s.id = p_session for update;';

function broken(
  name: string,
  violates: PromiseName,
  detectedBy: Mutant['detectedBy'],
  ...changes: readonly SqlChange[]
): Mutant {
  return { name, violates, detectedBy, changes };
}

const posting: readonly Mutant[] = [
  broken('an entry is dropped', SPENT, 'database', {
    in: 'post',
    from: '-v_granted, p_available, p_reserved, p_consumed,',
    to: '-v_granted, p_available, 0, p_consumed,',
  }),
  broken(
    'an entry is dropped and the sum check is off',
    SPENT,
    'database',
    { sql: 'alter table txn drop constraint txn_entries_sum_to_zero' },
    {
      in: 'post',
      from: '-v_granted, p_available, p_reserved, p_consumed,',
      to: '-v_granted, p_available, 0, p_consumed,',
    },
  ),
  broken(
    'an entry is dropped and every guard is off',
    SPENT,
    'audit',
    { sql: 'alter table txn drop constraint txn_entries_sum_to_zero' },
    { sql: 'alter table txn disable trigger txn_consistent' },
    {
      in: 'post',
      from: '-v_granted, p_available, p_reserved, p_consumed,',
      to: '-v_granted, p_available, 0, p_consumed,',
    },
  ),
  broken('a balance is not updated', SPENT, 'database', {
    in: 'post',
    from: 'available_ms = available_ms + p_available,',
    to: '',
  }),
  broken('two balances are not updated', SPENT, 'database', {
    in: 'post',
    from: 'available_ms = available_ms + p_available,\n    reserved_ms = reserved_ms + p_reserved,',
    to: '',
  }),
  broken(
    'a transaction is not written',
    SPENT,
    'database',
    { in: 'post', from: 'insert into txn', to: 'if false then insert into txn' },
    {
      in: 'post',
      from: 'o_available_ms, v_reserved, v_consumed, p_at);',
      to: 'o_available_ms, v_reserved, v_consumed, p_at); end if;',
    },
  ),
  broken('the sequence skips a number', SPENT, 'database', {
    in: 'post',
    from: 'last_seq = last_seq + 1',
    to: 'last_seq = last_seq + 2',
  }),
  broken(
    'the rest is charged and the charge returned',
    SPENT,
    'database',
    {
      in: 'end_session',
      from: 'p_available => p_session.reserved_ms - v_billable',
      to: 'p_available => v_billable',
    },
    {
      in: 'end_session',
      from: 'p_consumed => v_billable',
      to: 'p_consumed => p_session.reserved_ms - v_billable',
    },
  ),
];

const ending: readonly Mutant[] = [
  broken(
    'the release is missing',
    SPENT,
    'database',
    {
      in: 'end_session',
      from: 'perform post(',
      to: 'if false then perform post(',
    },
    {
      in: 'end_session',
      from: 'p_consumed => v_billable);',
      to: 'p_consumed => v_billable); end if;',
    },
  ),
  broken(
    'the release is missing and the trigger is off',
    SPENT,
    'audit',
    { sql: 'alter table sessions disable trigger sessions_match_reserved_credit' },
    { in: 'end_session', from: 'perform post(', to: 'if false then perform post(' },
    {
      in: 'end_session',
      from: 'p_consumed => v_billable);',
      to: 'p_consumed => v_billable); end if;',
    },
  ),
  broken('a failed session is charged', 'a failed session costs nothing', 'database', {
    in: 'end_session',
    from: `if p_status = 'completed' then`,
    to: `if p_status <> 'expired' then`,
  }),
  broken(
    'a failed session is charged in the ledger alone',
    'a failed session costs nothing',
    'database',
    {
      in: 'end_session',
      from: 'perform post(',
      to: `if p_status = 'failed' then v_billable := 1000; end if; perform post(`,
    },
  ),
  broken(
    'a failed session is charged and every guard is off',
    'a failed session costs nothing',
    'audit',
    { sql: 'alter table sessions drop constraint sessions_billed_by_samples' },
    { sql: 'alter table txn disable trigger txn_consistent' },
    {
      in: 'end_session',
      from: `if p_status = 'completed' then`,
      to: `if p_status <> 'expired' then`,
    },
  ),
  broken('seconds are rounded down', SPENT, 'database', {
    in: 'unpaid_ms',
    from: '+ 15999) / 16000',
    to: ') / 16000',
  }),
  broken('replayed audio is charged again', REPLAYED, 'database', {
    in: 'unpaid_ms',
    from: 'coalesce(p_session.replayed_samples, 0)',
    to: '0',
  }),
  broken('lost audio is handed on twice', REPLAYED, 'database', {
    in: 'charged_before',
    from: 'other.continues = p_lost',
    to: 'false',
  }),
  broken('more audio is free than was charged before', REPLAYED, 'audit', {
    in: 'charged_before',
    from: 'least(p_replayed, p_samples, lost.samples)',
    to: 'least(p_replayed, p_samples)',
  }),
  broken('audio of a session that was free is free again', REPLAYED, 'audit', {
    in: 'charged_before',
    from: `lost.status = 'completed' and is_paid(lost)`,
    to: 'true',
  }),
  broken('audio that was not paid is free again', UNPAID, 'promise', {
    in: 'is_paid',
    from: 'p_session.billable_ms = unpaid_ms(p_session, p_session.samples)',
    to: 'true',
  }),
  broken('more than the reservation is billed', 'at most the reservation is charged', 'database', {
    in: 'close_session',
    from: 'least(p_samples, v_session.reserved_ms::bigint * 16)',
    to: 'p_samples',
  }),
  broken('a close counts twice', 'a close counts once', 'database', {
    in: 'close_session',
    from: 'v_session.completed_at is not null',
    to: 'false',
  }),
  broken(
    'a close counts twice and closed sessions may change',
    'a close counts once',
    'database',
    { sql: 'alter table sessions disable trigger sessions_valid_transition' },
    { in: 'close_session', from: 'v_session.completed_at is not null', to: 'false' },
    { in: 'close_session', from: `v_session.status = 'reserved'`, to: 'false' },
  ),
  broken(
    'a repeated close is charged again and every guard is off',
    'a close counts once',
    'audit',
    { sql: 'drop index txn_session' },
    { sql: 'drop trigger txn_consistent on txn' },
    {
      in: 'close_session',
      from: 'if v_session.completed_at is not null then',
      to: `if v_session.completed_at is not null then
        perform post(p_account, 'complete', p_session, clock_timestamp(),
          -v_session.billable_ms, 0, v_session.billable_ms);`,
    },
  ),
  broken('any node can close any stream', 'only its own node can close a stream', 'promise', {
    in: 'close_session',
    from: 'is distinct from (p_node, p_epoch)',
    to: 'is distinct from (v_session.node_id, v_session.node_epoch)',
  }),
  broken('any upgrade gives any stream up', 'only its own upgrade gives a stream up', 'promise', {
    in: 'close_session',
    from: 'v_session.upgrade_id <> p_upgrade',
    to: 'false',
  }),
];

const reserving: readonly Mutant[] = [
  broken('the account is not locked', 'one reservation at a time', 'database', {
    in: 'reserve_session',
    from: 'for no key update',
    to: '',
  }),
  broken(
    'the account is not locked and slots may be shared',
    'one reservation at a time',
    'audit',
    { sql: 'drop index sessions_live' },
    { in: 'reserve_session', from: 'for no key update', to: '' },
  ),
  broken('the concurrency limit is not checked', 'one reservation at a time', 'audit', {
    in: 'reserve_session',
    from: 'v_live.live - v_lost >= v_account.concurrency_limit or v_live.live >= least(2 * v_account.concurrency_limit, 10000)',
    to: 'false',
  }),
  broken('lost sessions make room without an end', LOST_ROOM, 'audit', {
    in: 'reserve_session',
    from: ' or v_live.live >= least(2 * v_account.concurrency_limit, 10000)',
    to: '',
  }),
  broken('a lost session makes no room', LOST_ROOM, 'promise', {
    in: 'reserve_session',
    from: 'v_live.live - v_lost >=',
    to: 'v_live.live >=',
  }),
  broken('a lost session is waited for without credit', LOST_ROOM, 'promise', {
    in: 'reserve_session',
    from: 'if v_lost > 0 then',
    to: 'if false then',
  }),
  broken('the slot is always the first', 'a limit of three allows three sessions', 'database', {
    in: 'reserve_session',
    from: 'select coalesce(min(free.slot), 1) into v_slot',
    to: 'select 1 into v_slot',
  }),
  broken('a free slot counts as room under the limit', 'a lowered limit is not exceeded', 'audit', {
    in: 'reserve_session',
    from: 'select count(*) as live',
    to: 'select count(*) filter (where s.slot <= v_account.concurrency_limit) as live',
  }),
  broken(
    'an expired reservation is not closed',
    'an expired reservation frees its slot',
    'promise',
    {
      in: 'reserve_session',
      from: 's.expires_at <= v_now',
      to: 'false',
    },
  ),
  broken(
    'a reservation that its client could not open stays',
    'a reservation that its client could not open is released at once',
    'promise',
    {
      in: 'reserve_session',
      from: 'or exists (select from session_takeovers t where t.session_id = s.id)',
      to: '',
    },
  ),
  broken(
    'the idempotency key is not looked up',
    'a replay returns the same reservation',
    'promise',
    {
      in: 'reserve_session',
      from: 'i.expires_at > v_now',
      to: 'false',
    },
  ),
  broken(
    'a retried reservation is not looked up',
    'a reservation whose response was lost is found by its retry',
    'promise',
    { in: 'reserve_session', from: 'elsif p_retry then', to: 'elsif false then' },
  ),
  broken('the idempotency key is not stored', 'a replay returns the same reservation', 'promise', {
    in: 'reserve_session',
    from: 'if p_key_hash is not null then\n    insert',
    to: 'if false then\n    insert',
  }),
  broken('the request is not compared', 'an idempotency key belongs to one request', 'promise', {
    in: 'reserve_session',
    from: 'v_known.request_hash <> p_request_hash',
    to: 'false',
  }),
  broken(
    'an idempotency key never expires',
    'an idempotency key can be reused after its expiry',
    'promise',
    {
      in: 'reserve_session',
      from: 'and i.expires_at > v_now',
      to: '',
    },
  ),
  broken(
    'part of a second is reserved',
    'only whole seconds are reserved, and at least one',
    'database',
    {
      in: 'reserve_session',
      from: 'v_account.available_ms / 1000 * 1000',
      to: 'v_account.available_ms',
    },
  ),
  broken(
    'less than a second is reserved',
    'only whole seconds are reserved, and at least one',
    'database',
    {
      in: 'reserve_session',
      from: 'reserved_ms < 1000',
      to: 'reserved_ms < 0',
    },
  ),
  broken(
    'a suspended account can reserve',
    'a suspended account can neither reserve nor claim',
    'promise',
    {
      in: 'reserve_session',
      from: `v_account.status is distinct from 'active'`,
      to: 'false',
    },
  ),
];

const GIVEN_BACK = 'a claim that opened no stream keeps its credential good';

const claiming: readonly Mutant[] = [
  broken('now() in place of the clock', 'a claim that waited past the expiry loses', 'promise', {
    in: 'claim_session',
    from: 'v_now := clock_timestamp();',
    to: 'v_now := now();',
  }),
  broken(
    'the clock is read before the lock',
    'a claim that waited past the expiry loses',
    'promise',
    {
      in: 'claim_session',
      from: 'v_now timestamptz;',
      to: 'v_now timestamptz := clock_timestamp();',
    },
    { in: 'claim_session', from: 'v_now := clock_timestamp();', to: '' },
  ),
  broken('a claim in one statement', 'a claim that waited past the expiry loses', 'audit', {
    in: 'claim_session',
    from: SELECT_SESSION,
    to: `update sessions s set status = 'active', node_id = p_node, node_epoch = p_epoch, upgrade_id = p_upgrade,
      claimed_at = clock_timestamp() where s.account_id = p_account and s.id = p_session
      and s.status = 'reserved' and s.expires_at > clock_timestamp() returning * into v_session;
      if found then outcome := 'claimed'; return; end if; ${SELECT_SESSION}`,
  }),
  broken('a claim that is not logged', 'a credential works once', 'audit', {
    in: 'claim_session',
    from: 'insert into claim_log (account_id, session_id, upgrade_id, node_id, node_epoch, claimed_at)\n      values (p_account, p_session, p_upgrade, p_node, p_epoch, v_now);',
    to: '',
  }),
  broken('the expiry is not checked', 'a credential works for a minute', 'database', {
    in: 'claim_session',
    from: 'or v_session.expires_at <= v_now',
    to: '',
  }),
  broken(
    'a spent credential is spent again',
    'a credential works once',
    'database',
    { in: 'claim_session', from: 'v_session.claimed_at is not null', to: 'false' },
    { in: 'claim_session', from: `v_session.status <> 'reserved' or`, to: '' },
  ),
  broken('the session is not locked', 'a credential works once', 'database', {
    in: 'claim_session',
    from: 's.id = p_session for update;',
    to: 's.id = p_session;',
  }),
  broken('a used credential is accepted', 'a credential works once', 'promise', {
    in: 'claim_session',
    from: `else 'used'`,
    to: `else 'claimed'`,
  }),
  broken('all upgrades count as the same', 'a credential works once', 'promise', {
    in: 'claim_session',
    from: 'v_session.upgrade_id = p_upgrade',
    to: 'true',
  }),
  broken(
    'a suspended account streams',
    'a suspended account can neither reserve nor claim',
    'promise',
    {
      in: 'claim_session',
      from: `v_account.status <> 'active'`,
      to: 'false',
    },
  ),
  broken(
    'an upgrade cannot be retried',
    'an upgrade whose response was lost can be retried',
    'promise',
    {
      in: 'claim_session',
      from: `then 'claimed'\n      else 'used'`,
      to: `then 'used'\n      else 'used'`,
    },
  ),
  broken('a late claim takes a session that was given back', GIVEN_BACK, 'audit', {
    in: 'claim_session',
    from: 'is_given_back(p_account, p_session, p_upgrade)',
    to: 'false',
  }),
  broken('giving back a claim leaves the credential spent', GIVEN_BACK, 'audit', {
    in: 'give_back_session',
    from: 'delete from claim_log',
    to: `return 'given_back'; delete from claim_log`,
  }),
  broken('a claim is given back for another upgrade', GIVEN_BACK, 'database', {
    in: 'give_back_session',
    from: ` or v_session.upgrade_id <> p_upgrade`,
    to: '',
  }),
];

const sweeping: readonly Mutant[] = [
  broken(
    'everything reserved is expired',
    'the sweeper returns expired reservations and nothing else',
    'promise',
    { in: 'expire_reservations', from: 'and expires_at <= clock_timestamp()', to: '' },
    { in: 'expire_reservations', from: 'or v_session.expires_at > clock_timestamp()', to: '' },
  ),
  broken(
    'nothing is expired',
    'the sweeper returns expired reservations and nothing else',
    'promise',
    {
      in: 'expire_reservations',
      from: `status = 'reserved'`,
      to: `status = 'active'`,
    },
  ),
  broken(
    'a sweep expires sessions that ended meanwhile',
    'a sweep leaves sessions that ended while it ran',
    'database',
    {
      in: 'expire_reservations',
      from: `continue when not found or v_session.status <> 'reserved'`,
      to: 'continue when not found',
    },
  ),
  broken(
    'a session whose close was lost never ends',
    'a session whose close was lost ends after twenty minutes',
    'promise',
    { in: 'is_orphan', from: `interval '20 minutes'`, to: `interval '20 days'` },
  ),
  broken('a lease lasts twelve seconds', 'a lease lasts six seconds', 'promise', {
    in: 'lease_length',
    from: '6 seconds',
    to: '12 seconds',
  }),
  broken(
    'a dead node ends the streams of another one',
    'a restarted node frees its accounts and no others',
    'promise',
    {
      in: 'fail_orphans',
      from: 'on n.id = s.node_id',
      to: 'on n.id = (select max(id) from nodes)',
    },
    {
      in: 'fail_orphans',
      from: 'on n.id = v_session.node_id',
      to: 'on n.id = (select max(id) from nodes)',
    },
  ),
  broken(
    'a valid lease counts as expired',
    'a restarted node frees its accounts and no others',
    'promise',
    {
      in: 'is_orphan',
      from: 'p_node.lease_until <= p_expired_before',
      to: 'true',
    },
    { in: 'fail_orphans', from: 'n.lease_until > v_expired_before', to: 'false' },
  ),
  broken(
    'an older process keeps its streams',
    'a restarted node frees its accounts and no others',
    'promise',
    {
      in: 'is_orphan',
      from: 'p_session.node_epoch < p_node.epoch',
      to: 'false',
    },
  ),
  broken(
    'the sweeper does not pause after an outage',
    'no stream fails for a lease that expired during a database outage',
    'promise',
    {
      in: 'fail_orphans',
      from: `case when quiet_ms = 0 then v_now else '-infinity'::timestamptz end`,
      to: 'v_now',
    },
  ),
  broken(
    'a gap between sweeps is not detected',
    'no stream fails for a lease that expired during a database outage',
    'promise',
    {
      in: 'fail_orphans',
      from: 'v_watch.last_tick_at not between v_now - lease_length() / 2 and v_now',
      to: 'false',
    },
    {
      in: 'fail_orphans',
      from: 'pg_postmaster_start_time() + 2 * lease_length() else',
      to: `v_now - interval '1 day' else`,
    },
  ),
];

const LATE: PromiseName =
  'a close after the sweep counts once, in time, by its own process, as far as credit lasts';
const settlingLate: readonly Mutant[] = [
  broken('any process settles a swept session', LATE, 'promise', {
    in: 'close_session',
    from: 'and (v_session.node_id, v_session.node_epoch) = (p_node, p_epoch)',
    to: '',
  }),
  broken('a swept session can be settled at any time', LATE, 'database', {
    in: 'close_session',
    from: 'and v_session.swept_at + late_close_window() >= clock_timestamp()',
    to: '',
  }),
  broken('a late settlement charges audio that its client sent again', LATE, 'promise', {
    in: 'close_session',
    from: ' and p_told',
    to: '',
  }),
  broken('a late settlement takes credit that is gone', LATE, 'database', {
    in: 'settle_late',
    from: ', p_available / 1000 * 1000',
    to: '',
  }),
  broken('a late settlement counts twice', LATE, 'database', {
    in: 'close_session',
    from: `v_session.status = 'failed' and p_status`,
    to: 'p_status',
  }),
  broken(
    'a late settlement is not posted',
    LATE,
    'database',
    { in: 'settle_late', from: 'perform post(', to: 'if false then perform post(' },
    {
      in: 'settle_late',
      from: 'p_consumed => v_billable);',
      to: 'p_consumed => v_billable); end if;',
    },
  ),
  broken(
    'a late settlement is not posted and the trigger is off',
    LATE,
    'audit',
    { sql: 'alter table sessions disable trigger sessions_late_settlement_posted' },
    { in: 'settle_late', from: 'perform post(', to: 'if false then perform post(' },
    {
      in: 'settle_late',
      from: 'p_consumed => v_billable);',
      to: 'p_consumed => v_billable); end if;',
    },
  ),
  broken(
    'a swept session is not marked',
    LATE,
    'promise',
    {
      in: 'fail_orphans',
      from: 'v_session.swept_at := clock_timestamp();',
      to: '',
    },
    {
      in: 'fail_orphans',
      from: `'failed', 0, v_session.swept_at`,
      to: `'failed', 0, clock_timestamp()`,
    },
  ),
];

const crediting: readonly Mutant[] = [
  broken(
    'a repeated grant is posted twice',
    'credit is posted once and never goes below zero',
    'database',
    {
      in: 'post_credit',
      from: 'if found then',
      to: 'if false then',
    },
  ),
  broken('credit goes below zero', 'credit is posted once and never goes below zero', 'database', {
    in: 'post_credit',
    from: 'v_available + p_ms < 0',
    to: 'false',
  }),
];

/** Changes that no function makes: direct writes as the database owner with every guard off. */
const tampering: readonly Mutant[] = [
  broken(
    'a balance was set by hand',
    SPENT,
    'audit',
    { sql: 'alter table accounts disable trigger accounts_balance_matches_ledger' },
    {
      sql: `create function set_by_hand() returns trigger language plpgsql as $$ begin
        new.granted_ms := new.granted_ms + 5; new.available_ms := new.available_ms + 5; return new; end $$;
        create trigger set_by_hand before update on accounts for each row execute function set_by_hand();
        alter table txn disable trigger txn_consistent`,
    },
  ),
];

export const MUTANTS: readonly Mutant[] = [
  ...posting,
  ...ending,
  ...reserving,
  ...claiming,
  ...sweeping,
  ...settlingLate,
  ...crediting,
  ...tampering,
];
