-- Credit is added and corrected only by postings with a reason and an actor. A repeated id is applied once.

create or replace function post_credit(
  p_account uuid,
  p_kind txn_kind,
  p_ms bigint,
  p_reason text,
  p_actor text,
  p_request uuid,
  out outcome text,
  out replayed boolean,
  out seq bigint,
  out available_ms bigint
)
language plpgsql as $$
#variable_conflict use_column
declare
  v_available bigint;
  v_known record;
begin
  select available_ms into v_available from accounts where id = p_account for no key update;
  if not found then
    outcome := 'unknown_account';
    return;
  end if;
  select t.seq, t.kind, t.available_ms, t.reason, t.available_after_ms into v_known
    from txn t where t.account_id = p_account and t.request_id = p_request;
  if found then
    outcome := case when (v_known.kind, v_known.available_ms, v_known.reason) = (p_kind, p_ms, p_reason)
      then 'posted' else 'request_conflict' end;
    replayed := true;
    seq := v_known.seq;
    available_ms := v_known.available_after_ms;
    return;
  end if;
  if v_available + p_ms < 0 then
    outcome := 'insufficient_credits';
    available_ms := v_available;
    return;
  end if;
  outcome := 'posted';
  replayed := false;
  select o_seq, o_available_ms into seq, available_ms
    from post(p_account, p_kind, null, clock_timestamp(), p_ms, 0, 0, p_request, p_actor, p_reason);
end
$$;

create or replace function grant_credit(
  p_account uuid, p_ms bigint, p_reason text, p_actor text, p_request uuid,
  out outcome text, out replayed boolean, out seq bigint, out available_ms bigint
)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if p_ms <= 0 then
    raise exception 'a grant adds credit; use adjust_credit to remove some'
      using errcode = 'invalid_parameter_value';
  end if;
  select p.outcome, p.replayed, p.seq, p.available_ms into outcome, replayed, seq, available_ms
    from post_credit(p_account, 'grant', p_ms, p_reason, p_actor, p_request) p;
end
$$;

create or replace function adjust_credit(
  p_account uuid, p_ms bigint, p_reason text, p_actor text, p_request uuid,
  out outcome text, out replayed boolean, out seq bigint, out available_ms bigint
)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  select p.outcome, p.replayed, p.seq, p.available_ms into outcome, replayed, seq, available_ms
    from post_credit(p_account, 'adjust', p_ms, p_reason, p_actor, p_request) p;
end
$$;

-- Credit was added: its levels are reported anew, and unsent emails about the old credit are dropped.
create or replace function restart_credit_levels() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- A copied account is silent until its next grant.
  if is_copying(new.account_id) then
    return null;
  end if;
  insert into credit_levels (account_id, base_ms, seen_seq)
    values (new.account_id, new.available_after_ms + new.reserved_after_ms, new.seq)
    on conflict (account_id) do update
      set base_ms = excluded.base_ms, level = 100, seen_seq = excluded.seen_seq;
  delete from credit_notices where account_id = new.account_id;
  return null;
end
$$;
create or replace trigger txn_credit_levels after insert on txn
  for each row when (new.granted_ms < 0) execute function restart_credit_levels();

-- Compares accounts that had transactions since the last check with their levels, and queues emails to their owners.
-- It only reads the ledger. Returns how many accounts it checked.
create or replace function check_credit_levels(p_batch integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_account record;
  v_level smallint;
  v_checked integer := 0;
begin
  -- One process at a time is enough.
  if not pg_try_advisory_xact_lock(hashtextextended('credit levels', 5)) then
    return 0;
  end if;
  for v_account in
    select a.id, a.available_ms + a.reserved_ms as left_ms, a.last_seq, l.level, l.base_ms
      from accounts a join credit_levels l on l.account_id = a.id
      where a.last_seq > l.seen_seq limit p_batch
  loop
    -- Sessions reserve whole seconds.
    v_level := case
      when v_account.left_ms < 1000 then 0
      when v_account.left_ms * 20 <= v_account.base_ms then 5
      when v_account.left_ms * 5 <= v_account.base_ms then 20
      when v_account.left_ms * 2 <= v_account.base_ms then 50
      else 100 end;
    -- Credit that was added in the meantime wins.
    update credit_levels set level = least(level, v_level), seen_seq = v_account.last_seq
      where account_id = v_account.id and seen_seq < v_account.last_seq;
    if found and v_level < v_account.level then
      insert into credit_notices (account_id, recipient, level)
        select account_id, user_id, v_level from memberships
          where account_id = v_account.id and role = 'owner';
    end if;
    v_checked := v_checked + 1;
  end loop;
  return v_checked;
end
$$;
