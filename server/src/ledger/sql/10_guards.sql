-- What no function, no operator and no mistake may commit. Deferred checks run as their owner: at commit the
-- caller's role is back, and it may not read these tables.

-- Two of these make a lease lapse safe to act on; see fail_orphans.
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
create or replace trigger entry_append_only before update or delete on entry
  for each row execute function refuse_change('the ledger only grows; post an adjustment instead');
create or replace trigger claim_log_append_only before update or delete on claim_log
  for each row execute function refuse_change('a credential is spent once');
create or replace trigger txn_not_truncated before truncate on txn
  for each statement execute function refuse_change('the ledger only grows');
create or replace trigger entry_not_truncated before truncate on entry
  for each statement execute function refuse_change('the ledger only grows');
create or replace trigger claim_log_not_truncated before truncate on claim_log
  for each statement execute function refuse_change('a credential is spent once');
create or replace trigger sessions_not_truncated before truncate on sessions
  for each statement execute function refuse_change('sessions are what the ledger is about');
create or replace trigger sessions_not_deleted before delete on sessions
  for each row execute function refuse_change('sessions are what the ledger is about');

-- The conditions stand in `when`, so that a lawful update calls no function at all.
create or replace trigger sessions_terminal_stays before update on sessions
  for each row when (old.status in ('completed', 'failed', 'expired'))
  execute function refuse_change('a session that is over never changes');
create or replace trigger sessions_lawful_step before update on sessions
  for each row when (
    (old.status = 'active' and new.status in ('reserved', 'expired'))
    or (old.status = 'reserved' and new.status = 'completed')
    or (old.claimed_at is not null and (new.claimed_at, new.attempt_id, new.node_id, new.node_epoch)
      is distinct from (old.claimed_at, old.attempt_id, old.node_id, old.node_epoch))
    or (new.account_id, new.id, new.model, new.key_id, new.reserved_ms, new.remaining_ms, new.created_at,
      new.expires_at, new.websocket_url)
      is distinct from (old.account_id, old.id, old.model, old.key_id, old.reserved_ms, old.remaining_ms,
      old.created_at, old.expires_at, old.websocket_url)
  )
  execute function refuse_change('not a step a session can take');

-- Entries arrive whole: after every statement that adds some, each transaction they belong to exists and sums to
-- zero. This stands in for a foreign key and sees what one cannot: an entry added to an old transaction.
create or replace function check_entries() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (
    select from (select distinct account_id, seq from added) a
    left join txn t using (account_id, seq)
    where t.seq is null
      or (select sum(e.amount_ms) from entry e where e.account_id = a.account_id and e.seq = a.seq) <> 0
  ) then
    raise exception 'entries must belong to a transaction and sum to zero'
      using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end
$$;
create or replace trigger entry_sums_to_zero after insert on entry
  referencing new table as added for each statement execute function check_entries();

-- At commit, every new transaction continues the one before it, its entries explain its balances, and it moved
-- exactly what its session says.
create or replace function check_txn() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_sum bigint;
  v_available bigint;
  v_reserved bigint;
  v_consumed bigint;
  v_before record;
  v_session record;
  v_last_seq bigint;
begin
  select coalesce(sum(amount_ms), 1),
    coalesce(sum(amount_ms) filter (where bucket = 'available'), 0),
    coalesce(sum(amount_ms) filter (where bucket = 'reserved'), 0),
    coalesce(sum(amount_ms) filter (where bucket = 'consumed'), 0)
    into v_sum, v_available, v_reserved, v_consumed
    from entry where account_id = new.account_id and seq = new.seq;
  if v_sum <> 0 then
    raise exception 'transaction % of account % does not sum to zero', new.seq, new.account_id
      using errcode = 'integrity_constraint_violation';
  end if;

  select available_after_ms, reserved_after_ms, consumed_after_ms into v_before
    from txn where account_id = new.account_id and seq = new.seq - 1;
  select last_seq into v_last_seq from accounts where id = new.account_id;
  if (v_before is null and new.seq <> 1)
    or v_last_seq < new.seq
    or new.available_after_ms <> coalesce(v_before.available_after_ms, 0) + v_available
    or new.reserved_after_ms <> coalesce(v_before.reserved_after_ms, 0) + v_reserved
    or new.consumed_after_ms <> coalesce(v_before.consumed_after_ms, 0) + v_consumed then
    raise exception 'transaction % of account % does not continue its ledger', new.seq, new.account_id
      using errcode = 'integrity_constraint_violation';
  end if;

  if new.session_id is null then
    return null;
  end if;
  select reserved_ms as held, billable_ms as billed, status into v_session
    from sessions where account_id = new.account_id and id = new.session_id;
  if v_session is null or not (case new.kind
    when 'reserve' then
      v_available = -v_session.held and v_reserved = v_session.held and v_consumed = 0
    when 'complete' then v_session.status = 'completed'
      and v_available = v_session.held - v_session.billed and v_reserved = -v_session.held
      and v_consumed = v_session.billed
    else v_session.status = case new.kind when 'fail' then 'failed' else 'expired' end
      and v_available = v_session.held and v_reserved = -v_session.held and v_consumed = 0
  end) then
    raise exception 'transaction % of account % does not match its session', new.seq, new.account_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end
$$;
drop trigger if exists txn_is_right on txn;
create constraint trigger txn_is_right after insert on txn
  deferrable initially deferred for each row execute function check_txn();

-- A balance changes only by a transaction that says so.
create or replace function check_balance() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_agrees boolean;
begin
  select (a.available_ms, a.reserved_ms, a.consumed_ms)
    is not distinct from (t.available_after_ms, t.reserved_after_ms, t.consumed_after_ms)
    into v_agrees
    from accounts a left join txn t on t.account_id = a.id and t.seq = a.last_seq
    where a.id = new.id;
  if not v_agrees then
    raise exception 'the balance of account % differs from its ledger', new.id
      using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end
$$;
drop trigger if exists accounts_balance_is_posted on accounts;
create constraint trigger accounts_balance_is_posted after update on accounts
  deferrable initially deferred for each row
  when ((old.available_ms, old.reserved_ms, old.consumed_ms, old.last_seq)
    is distinct from (new.available_ms, new.reserved_ms, new.consumed_ms, new.last_seq))
  execute function check_balance();
drop trigger if exists accounts_begin_empty on accounts;
create trigger accounts_begin_empty before insert on accounts
  for each row when (new.granted_ms <> 0 or new.last_seq <> 0)
  execute function refuse_change('an account begins empty; grant it credit');

-- What an account has set aside is what its live sessions hold: beginning or ending one without moving the money
-- is refused.
create or replace function check_live() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if (select reserved_ms from accounts where id = new.account_id) <> (
    select coalesce(sum(reserved_ms), 0) from sessions where account_id = new.account_id and slot is not null
  ) then
    raise exception 'live sessions of account % do not hold what it has reserved', new.account_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end
$$;
drop trigger if exists sessions_begin_with_money on sessions;
create constraint trigger sessions_begin_with_money after insert on sessions
  deferrable initially deferred for each row execute function check_live();
drop trigger if exists sessions_end_with_money on sessions;
create constraint trigger sessions_end_with_money after update on sessions
  deferrable initially deferred for each row when (old.slot is distinct from new.slot)
  execute function check_live();
