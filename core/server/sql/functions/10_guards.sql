-- Guards that bind every function and operator. Deferred checks run as their owner, because at
-- commit the caller's role is active again and may not read these tables. They name the schema,
-- because the caller's search path is active again too.

create or replace function lease_length() returns interval
language sql immutable parallel safe as $$ select interval '6 seconds' $$;

create or replace function refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception '% of % is not allowed: %', tg_op, tg_table_name, tg_argv[0]
    using errcode = 'integrity_constraint_violation';
end
$$;

create or replace trigger txn_append_only before update or delete on txn
  for each row execute function refuse_change('the ledger only grows; post an adjustment instead');
create or replace trigger txn_not_truncated before truncate on txn
  for each statement execute function refuse_change('the ledger only grows');
create or replace trigger claims_given_back_append_only before update or delete on claims_given_back
  for each row execute function refuse_change('a claim is given back once');
create or replace trigger claims_given_back_not_truncated before truncate on claims_given_back
  for each statement execute function refuse_change('a claim is given back once');

-- Whether the upgrade opened no stream, so that its claim is void.
create or replace function is_given_back(p_account uuid, p_session uuid, p_upgrade uuid) returns boolean
language sql stable as $$
  select exists (
    select from claims_given_back
    where account_id = p_account and session_id = p_session and upgrade_id = p_upgrade)
$$;

-- Replaces the trigger of an earlier version, which refused every deletion.
drop trigger if exists claim_log_append_only on claim_log;
create or replace trigger claim_log_not_updated before update on claim_log
  for each row execute function refuse_change('a credential is spent once');
create or replace trigger claim_log_not_deleted before delete on claim_log
  for each row when (is_given_back(old.account_id, old.session_id, old.upgrade_id) is not true)
  execute function refuse_change('a credential is spent once');
create or replace trigger claim_log_not_truncated before truncate on claim_log
  for each statement execute function refuse_change('a credential is spent once');
create or replace trigger sessions_not_deleted before delete on sessions
  for each row execute function refuse_change('the ledger refers to sessions');
create or replace trigger sessions_not_truncated before truncate on sessions
  for each statement execute function refuse_change('the ledger refers to sessions');

-- How long after a sweep the node that served a session may still settle it.
create or replace function late_close_window() returns interval
language sql immutable parallel safe as $$ select interval '5 minutes' $$;

-- The only change of a session that has ended: the sweeper failed it, its node was alive after all and
-- reports in time that it completed.
create or replace function is_late_settlement(p_old sessions, p_new sessions) returns boolean
language sql stable as $$
  select p_old.status = 'failed' and p_new.status = 'completed' and p_old.claimed_at is not null
    and p_new.completed_at between p_old.swept_at and p_old.swept_at + late_close_window()
    and to_jsonb(p_old) - '{status,samples,audio_ms,billable_ms,completed_at,continues,replayed_samples}'::text[]
      = to_jsonb(p_new) - '{status,samples,audio_ms,billable_ms,completed_at,continues,replayed_samples}'::text[]
$$;

-- The condition is in `when`, so that an ordinary update calls no function.
create or replace trigger sessions_valid_transition before update on sessions
  for each row when (
    (old.status in ('completed', 'failed', 'expired') and is_late_settlement(old, new) is not true)
    or (old.status = 'active' and new.status = 'expired')
    or (old.status = 'active' and new.status = 'reserved'
      and (new.claimed_at is null and is_given_back(old.account_id, old.id, old.upgrade_id)) is not true)
    or (old.status = 'reserved' and new.status = 'completed'))
  execute function refuse_change('an ended session never changes, and no status goes back');
create or replace trigger accounts_start_without_credit before insert on accounts
  for each row when (new.granted_ms <> 0 or new.last_seq <> 0)
  execute function refuse_change('an account starts without credit; grant it some');

-- At commit, every new transaction must continue the previous one and match its session's amounts.
create or replace function check_txn() returns trigger
language plpgsql security definer as $$
declare
  v_right boolean;
begin
  select a.last_seq >= new.seq
      and (new.seq = 1 or p.seq is not null)
      and new.available_after_ms = coalesce(p.available_after_ms, 0) + new.available_ms
      and new.reserved_after_ms = coalesce(p.reserved_after_ms, 0) + new.reserved_ms
      and new.consumed_after_ms = coalesce(p.consumed_after_ms, 0) + new.consumed_ms
      and case new.kind
        when 'reserve' then new.reserved_ms = s.reserved_ms and new.consumed_ms = 0
        when 'complete' then s.status = 'completed' and new.reserved_ms = -s.reserved_ms
          and new.consumed_ms = s.billable_ms
        when 'fail' then new.reserved_ms = -s.reserved_ms and new.consumed_ms = 0
          and (s.status = 'failed' or (s.status = 'completed' and s.swept_at is not null))
        when 'settle_late' then s.status = 'completed' and s.swept_at is not null
          and new.reserved_ms = 0 and new.consumed_ms = s.billable_ms
        when 'expire' then s.status = 'expired' and new.reserved_ms = -s.reserved_ms
          and new.consumed_ms = 0
        else new.reserved_ms = 0 and new.consumed_ms = 0
      end
    into v_right
    from public.accounts a
    left join public.txn p on p.account_id = new.account_id and p.seq = new.seq - 1
    left join public.sessions s on s.account_id = new.account_id and s.id = new.session_id
    where a.id = new.account_id;
  if v_right is not true then
    raise exception
      'transaction % of account % does not continue its ledger or does not match its session',
      new.seq, new.account_id using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end
$$;
drop trigger if exists txn_consistent on txn;
create constraint trigger txn_consistent after insert on txn
  deferrable initially deferred for each row execute function check_txn();

-- A balance changes only with a matching transaction.
create or replace function check_balance() returns trigger
language plpgsql security definer as $$
begin
  if not exists (
    select from public.txn t where t.account_id = new.id and t.seq = new.last_seq
      and t.available_after_ms = new.available_ms and t.reserved_after_ms = new.reserved_ms
      and t.consumed_after_ms = new.consumed_ms
  ) then
    raise exception 'the balance of account % is not what its ledger says', new.id
      using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end
$$;
drop trigger if exists accounts_balance_matches_ledger on accounts;
create constraint trigger accounts_balance_matches_ledger
  after update of granted_ms, available_ms, reserved_ms, consumed_ms, last_seq on accounts
  deferrable initially deferred for each row execute function check_balance();

-- An account's reserved credit must equal the reservations of its live sessions, so a session can't
-- start or end without moving credit.
create or replace function check_reserved_credit() returns trigger
language plpgsql security definer as $$
begin
  if (select reserved_ms from public.accounts where id = new.account_id) <> (
    select coalesce(sum(reserved_ms), 0) from public.sessions
      where account_id = new.account_id and slot is not null
  ) then
    raise exception 'live sessions of account % do not hold what it has reserved', new.account_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end
$$;
drop trigger if exists sessions_match_reserved_credit on sessions;
create constraint trigger sessions_match_reserved_credit after insert or update of slot on sessions
  deferrable initially deferred for each row execute function check_reserved_credit();

-- A session that is settled late must be charged in the same transaction.
create or replace function check_late_settlement() returns trigger
language plpgsql security definer as $$
begin
  if not exists (
    select from public.txn t where t.account_id = new.account_id and t.session_id = new.id
      and t.kind = 'settle_late' and t.consumed_ms = new.billable_ms
  ) then
    raise exception 'the late settlement of session % was not posted', new.id
      using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end
$$;
drop trigger if exists sessions_late_settlement_posted on sessions;
create constraint trigger sessions_late_settlement_posted after update of status on sessions
  deferrable initially deferred for each row
  when (old.status = 'failed' and new.status = 'completed')
  execute function check_late_settlement();
