-- The lifecycle of a node: register (a new epoch), renew, drain, retire. Leases use only the database's clock. Below, the history
-- of the status page.

create or replace function register_node(
  p_id text,
  p_url text,
  p_models text[],
  p_capacity integer,
  p_version text
) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_epoch bigint;
  v_known nodes;
begin
  select * into v_known from nodes where id = p_id for update;
  if v_known.login <> session_user then
    raise exception 'node % belongs to another database login', p_id
      using errcode = 'insufficient_privilege';
  end if;
  insert into nodes as n
    (id, epoch, public_url, models, capacity, started_at, renewed_at, lease_until, login, version)
    values (p_id, 1, p_url, p_models, p_capacity, v_now, v_now, v_now + lease_length(), session_user, p_version)
    on conflict (id) do update set
      epoch = n.epoch + 1,
      public_url = excluded.public_url,
      models = excluded.models,
      capacity = excluded.capacity,
      active = 0,
      draining = false,
      started_at = excluded.started_at,
      renewed_at = excluded.renewed_at,
      lease_until = excluded.lease_until,
      retired_at = null,
      login = excluded.login,
      version = excluded.version
    returning n.epoch into v_epoch;
  return v_epoch;
end
$$;

-- Returns false if this process was superseded or retired. It then owns no sessions.
create or replace function renew_node(
  p_id text,
  p_epoch bigint,
  p_active integer,
  p_capacity integer,
  p_draining boolean
) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update nodes set
    renewed_at = clock_timestamp(),
    lease_until = clock_timestamp() + lease_length(),
    active = p_active,
    capacity = p_capacity,
    draining = p_draining
    where id = p_id and epoch = p_epoch and retired_at is null and login = session_user;
  return found;
end
$$;

create or replace function retire_node(p_id text, p_epoch bigint) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update nodes set retired_at = clock_timestamp(), draining = true, active = 0
    where id = p_id and epoch = p_epoch and retired_at is null and login = session_user;
  return found;
end
$$;

-- Whether no node can serve a live session. A claimed session depends on the process that claimed
-- it. An unclaimed one can be claimed by any node behind its URL, so it survives its node while
-- another of those is live. expire_reservations handles expired ones.
create or replace function is_orphan(
  p_session sessions,
  p_node nodes,
  p_expired_before timestamptz
) returns boolean
language sql stable as $$
  select (p_session.claimed_at is not null or p_session.expires_at > clock_timestamp())
    and (
      p_node.id is null
      or p_node.retired_at is not null
      or coalesce(p_session.node_epoch < p_node.epoch, false)
      or p_node.lease_until <= p_expired_before
      -- No stream may last this long, so its close was lost.
      or coalesce(p_session.claimed_at <= p_expired_before - interval '20 minutes', false)
    )
    and not (
      p_session.status = 'reserved'
      and exists (
        select from nodes other
        where other.public_url = p_session.websocket_url
          and other.retired_at is null
          and not other.draining
          and other.lease_until > p_expired_before)
    )
$$;

-- Replaces a node's report about its open streams. Ignores superseded and retired processes.
create or replace function report_live_audio(
  p_node text,
  p_epoch bigint,
  p_session_ids uuid[],
  p_samples bigint[]
) returns void
language sql security definer set search_path = public, pg_temp as $$
  insert into live_audio as l (node_id, node_epoch, reported_at, session_ids, samples)
    select id, epoch, clock_timestamp(), p_session_ids, p_samples
    from nodes where id = p_node and epoch = p_epoch and retired_at is null
    on conflict (node_id) do update set
      node_epoch = excluded.node_epoch,
      reported_at = excluded.reported_at,
      session_ids = excluded.session_ids,
      samples = excluded.samples
$$;

-- The history of the status page: one bit per minute and component. Every API process records the same minutes, and a bit
-- that is set stays set, so several processes count a minute once.

create or replace function status_days_kept() returns integer
language sql immutable as $$ select 90 $$;

-- Records all components of the service, and which of them are available in this minute.
create or replace function record_status(p_components text[], p_available text[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_now timestamp := clock_timestamp() at time zone 'UTC';
  v_day date := v_now::date;
  v_minute integer := extract(hour from v_now) * 60 + extract(minute from v_now);
begin
  insert into status_days (day, component, from_minute)
    select v_day, c, case when exists (select from status_days where component = c) then 0 else v_minute end
      from unnest(p_components) c
      where not exists (select from status_days where day = v_day and component = c)
      order by c
    on conflict do nothing;
  if found then
    delete from status_days where day <= v_day - status_days_kept();
  end if;
  -- In one order, so that two processes don't wait for each other.
  perform from status_days
    where day = v_day and component = any(p_available) and get_bit(available, v_minute) = 0
    order by component for update;
  update status_days set available = set_bit(available, v_minute, 1)
    where day = v_day and component = any(p_available) and get_bit(available, v_minute) = 0;
end
$$;

-- The minutes of each day since the first record, and how many of them had no service. The minute under way is not over, and
-- the one before may still be recorded late.
create or replace function status_history()
returns table (component text, day date, minutes integer, down_minutes integer)
language sql stable security definer set search_path = public, pg_temp as $$
  with now as (
    select date_trunc('minute', clock_timestamp() at time zone 'UTC') - interval '1 minute' as until
  ), first as (
    select component, min(day + from_minute * interval '1 minute') as since from status_days
      where day > (select until::date from now) - status_days_kept() group by component
  ), days as (
    select f.component, d::date as day, f.since, d as starts, d + interval '1 day' as ends
      from first f, now, generate_series(date_trunc('day', f.since), until, interval '1 day') d
  ), counted as (
    select component, day,
        greatest(0, extract(epoch from least(ends, until) - greatest(starts, since)) / 60)::integer as minutes,
        (extract(epoch from greatest(starts, since) - starts) / 60)::integer as skipped
      from days, now
  )
  select c.component, c.day, c.minutes,
      c.minutes - coalesce(bit_count(substring(s.available from c.skipped + 1 for c.minutes)), 0)::integer
    from counted c left join status_days s on s.component = c.component and s.day = c.day
    order by c.component, c.day
$$;

-- Whether a component was available in this minute or the last one.
create or replace function status_recorded(p_component text) returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce(bool_or(get_bit(s.available, (extract(epoch from m - date_trunc('day', m)) / 60)::integer) = 1), false)
    from (select date_trunc('minute', clock_timestamp() at time zone 'UTC')) now(m0),
      lateral (values (m0), (m0 - interval '1 minute')) minutes(m)
      join status_days s on s.day = m::date and s.component = p_component
$$;
