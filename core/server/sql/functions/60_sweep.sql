-- Cleanup of sessions that nothing else ends. Both functions work in batches and skip locked rows,
-- so they never wait and never delay a caller.

create or replace function expire_reservations(p_batch integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_found record;
  v_session sessions;
  v_ended integer := 0;
begin
  for v_found in
    select account_id, id from sessions
      where slot is not null and status = 'reserved' and expires_at <= clock_timestamp()
      limit p_batch
  loop
    perform from accounts where id = v_found.account_id for no key update skip locked;
    continue when not found;
    select * into v_session from sessions
      where account_id = v_found.account_id and id = v_found.id for update skip locked;
    continue when not found or v_session.status <> 'reserved'
      or v_session.expires_at > clock_timestamp();
    perform end_session(v_session, 'expired', 0, v_session.expires_at);
    v_ended := v_ended + 1;
  end loop;
  return v_ended;
end
$$;

-- Fails sessions of lost nodes: superseded by a restart, retired, or with an expired lease.
--
-- A lease also expires if the database was unreachable for its renewal. So expired leases count
-- only after two lease lengths of uptime and of sweeps without a gap. One reading of the clock
-- decides about both the gap and the leases: if the server froze before it, the gap shows; if it
-- froze after, the leases were still valid at that time.
--
-- A time in the future was read before the clock was set back. It counts as a gap, so the pause never
-- lasts longer than two lease lengths.
create or replace function fail_orphans(
  p_batch integer,
  out failed integer,
  out quiet_ms integer
)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_watch sweeper_watch;
  v_now timestamptz;
  v_quiet_max timestamptz;
  v_expired_before timestamptz;
  v_found record;
  v_session sessions;
begin
  failed := 0;
  quiet_ms := 0;
  select * into v_watch from sweeper_watch for update skip locked;
  if not found then
    return; -- another sweeper is running
  end if;
  v_now := clock_timestamp();
  v_quiet_max := v_now + 2 * lease_length();
  v_watch.quiet_until := greatest(
    case when v_watch.quiet_until <= v_quiet_max then v_watch.quiet_until end,
    case when pg_postmaster_start_time() <= v_now
      then pg_postmaster_start_time() + 2 * lease_length() else v_now end,
    case when v_watch.last_tick_at not between v_now - lease_length() / 2 and v_now
      then v_quiet_max end);
  update sweeper_watch set last_tick_at = v_now, quiet_until = v_watch.quiet_until;
  quiet_ms := greatest(0, ceil(extract(epoch from v_watch.quiet_until - v_now) * 1000));
  v_expired_before := case when quiet_ms = 0 then v_now else '-infinity'::timestamptz end;

  for v_found in
    select s.account_id, s.id from sessions s left join nodes n on n.id = s.node_id
      where s.slot is not null
        -- A cheap filter first, because almost every session is served. is_orphan decides about the rest.
        and (n.retired_at is null and n.lease_until > v_expired_before
          and coalesce(s.node_epoch, n.epoch) = n.epoch
          and coalesce(s.claimed_at, v_now) > v_expired_before - interval '20 minutes') is not true
        and is_orphan(s, n, v_expired_before)
      limit p_batch
  loop
    perform from accounts where id = v_found.account_id for no key update skip locked;
    continue when not found;
    select * into v_session from sessions
      where account_id = v_found.account_id and id = v_found.id for update skip locked;
    continue when not found or v_session.slot is null;
    -- Check again under the lock: it may have moved to a live node, or its node may have returned.
    continue when not (
      select is_orphan(v_session, n, v_expired_before)
      from (select) one left join nodes n on n.id = v_session.node_id);
    v_session.swept_at := clock_timestamp();
    perform end_session(v_session, 'failed', 0, v_session.swept_at);
    failed := failed + 1;
  end loop;
end
$$;

-- Deletes idempotency keys of expired sessions, which can be reused, lost audio that nobody will send again, and old
-- takeovers. Returns how many of the kind that had most.
create or replace function forget_idempotency(p_batch integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_keys integer;
  v_lost integer;
  v_takeovers integer;
begin
  delete from idempotency where (account_id, key_hash) in (
    select account_id, key_hash from idempotency
      where expires_at < clock_timestamp() - interval '1 minute'
      order by expires_at limit p_batch for update skip locked);
  get diagnostics v_keys = row_count;
  delete from lost_audio where (account_id, session_id) in (
    select account_id, session_id from lost_audio
      where lost_at < clock_timestamp() - interval '5 minutes'
      order by lost_at limit p_batch for update skip locked);
  get diagnostics v_lost = row_count;
  delete from session_takeovers where session_id in (
    select session_id from session_takeovers
      where requested_at < clock_timestamp() - interval '1 hour'
      order by requested_at limit p_batch for update skip locked);
  get diagnostics v_takeovers = row_count;
  return greatest(v_keys, v_lost, v_takeovers);
end
$$;
