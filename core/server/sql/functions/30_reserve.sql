-- Reserves credit for one session, or returns the reason for a refusal, in one round trip. The
-- order of the checks is part of the contract: account, replay, move, slots, credit, capacity.
create or replace function reserve_session(
  p_account uuid,
  p_session uuid,
  p_retry boolean,
  p_key text,
  p_model text,
  p_requested_ms integer,
  p_key_hash bytea,
  p_request_hash bytea,
  p_node text,
  p_url text,
  out outcome text,
  out replayed boolean,
  out session_id uuid,
  out websocket_url text,
  out reserved_ms integer,
  out remaining_ms bigint,
  out created_at timestamptz,
  out expires_at timestamptz,
  out blocker text,
  out retry_after_ms integer
)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  v_account record;
  v_known record;
  v_live record;
  v_expired sessions;
  v_now timestamptz;
  v_slot integer := 1;
  v_lost bigint := 0;
begin
  select status, concurrency_limit, available_ms, reserved_ms, move_state into v_account
    from accounts where id = p_account for no key update;
  -- Read the clock after the lock, because the wait for the lock may be long.
  v_now := date_trunc('milliseconds', clock_timestamp());
  if v_account.status is distinct from 'active' then
    outcome := 'account_inactive';
    return;
  end if;

  if p_key_hash is not null then
    select i.request_hash, s.* into v_known
      from idempotency i join sessions s on s.account_id = i.account_id and s.id = i.session_id
      where i.account_id = p_account and i.key_hash = p_key_hash and i.expires_at > v_now;
    if found and v_known.request_hash <> p_request_hash then
      outcome := 'idempotency_conflict';
      return;
    end if;
  elsif p_retry then
    select s.* into v_known from sessions s where s.account_id = p_account and s.id = p_session;
  end if;
  -- Not "is not null", which tests whether every column has a value.
  if not (v_known is null) then
    outcome := 'reserved';
    replayed := true;
    session_id := v_known.id;
    websocket_url := v_known.websocket_url;
    reserved_ms := v_known.reserved_ms;
    remaining_ms := v_known.remaining_ms;
    created_at := v_known.created_at;
    expires_at := v_known.expires_at;
    return;
  end if;

  if v_account.move_state is not null then
    outcome := 'account_moving';
    return;
  end if;

  -- Without reserved credit there is no live session, so the usual case skips the search.
  if v_account.reserved_ms > 0 then
    -- Reservations that have expired, and those whose clients could not open them on their node.
    for v_expired in
      select * from sessions s
        where s.account_id = p_account and s.slot is not null and s.status = 'reserved'
          and (s.expires_at <= v_now or exists (select from session_takeovers t where t.session_id = s.id))
        for update
    loop
      perform end_session(v_expired, case when v_expired.expires_at <= v_now then 'expired' else 'failed' end::session_status,
        0, least(v_expired.expires_at, v_now));
      v_account.available_ms := v_account.available_ms + v_expired.reserved_ms;
    end loop;
    select count(*) as live, count(t.session_id) as lost,
      min(s.expires_at) filter (where s.status = 'reserved') as first_expiry,
      count(*) filter (where s.status = 'active') as active,
      min(n.lease_until) filter (where s.status = 'active') as first_lease
      into v_live
      from sessions s left join nodes n on n.id = s.node_id left join session_takeovers t on t.session_id = s.id
      where s.account_id = p_account and s.slot is not null;
    -- By count, not by free slot, because a lowered limit may leave low slots free.
    -- Sessions whose clients lost them and are back make room, but an account never has more than twice its limit,
    -- nor more than there are slot numbers.
    v_lost := v_live.lost;
    if v_live.live - v_lost >= v_account.concurrency_limit or v_live.live >= least(2 * v_account.concurrency_limit, 10000) then
      outcome := 'concurrency_limit_exceeded';
      blocker := case when v_live.first_expiry is null then 'active' else 'reserved' end;
      -- At most the life of a credential, even if the clock was set back meanwhile. An active session may end at
      -- any time. If its node is lost, the sweeper ends it a second after the lease. A lease can be endless.
      retry_after_ms := least(
        extract(epoch from v_live.first_expiry - v_now) * 1000, 60000,
        case when v_live.active > 0 then greatest(1000, least(5000,
          coalesce(extract(epoch from least(v_live.first_lease, v_now + interval '1 minute') - v_now) * 1000, 0) + 1500)) end);
      return;
    end if;
    select coalesce(min(free.slot), 1) into v_slot
      from (
        select taken.slot + 1 as slot, lead(taken.slot) over (order by taken.slot) as next
        from (
          select 0 as slot union all
          select s.slot from sessions s where s.account_id = p_account and s.slot is not null
        ) taken
      ) free where free.next is distinct from free.slot;
  end if;

  reserved_ms := least(p_requested_ms, v_account.available_ms / 1000 * 1000);
  if reserved_ms < 1000 then
    outcome := 'insufficient_credits';
    if v_lost > 0 then
      -- A lost session returns its credit when it ends.
      outcome := 'concurrency_limit_exceeded';
      blocker := 'active';
      retry_after_ms := 2000;
    end if;
    return;
  end if;
  if p_node is null then
    outcome := 'no_capacity';
    return;
  end if;

  outcome := 'reserved';
  replayed := false;
  session_id := p_session;
  websocket_url := p_url;
  remaining_ms := v_account.available_ms - reserved_ms;
  created_at := v_now;
  expires_at := v_now + interval '60 seconds';
  insert into sessions (account_id, id, key_id, model, slot, reserved_ms, remaining_ms,
    websocket_url, node_id, created_at, expires_at)
    values (p_account, p_session, p_key, p_model, v_slot, reserved_ms, remaining_ms, p_url, p_node,
      created_at, expires_at);
  perform post(p_account, 'reserve', p_session, v_now,
    p_available => -reserved_ms, p_reserved => reserved_ms, p_consumed => 0);
  if p_key_hash is not null then
    insert into idempotency as i (account_id, key_hash, request_hash, session_id, expires_at)
      values (p_account, p_key_hash, p_request_hash, p_session, expires_at)
      on conflict (account_id, key_hash) do update set
        request_hash = excluded.request_hash,
        session_id = excluded.session_id,
        expires_at = excluded.expires_at;
  end if;
end
$$;
