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
