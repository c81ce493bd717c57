-- Creates the partition of a UTC day. Another process may create it at the same time.
create or replace function create_calls_day(p_day date) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  execute format(
    'create table if not exists %I partition of api_calls for values from (%L) to (%L)',
    'api_calls_' || to_char(p_day, 'YYYYMMDD'),
    p_day::timestamp at time zone 'UTC', (p_day + 1)::timestamp at time zone 'UTC');
exception when duplicate_table or unique_violation then
  null;
end
$$;

-- Stores calls that a process answered. Nothing here locks an account or moves credit. The time of a call is the
-- database's, less the time that the call waited to be written.
-- Parsing json costs less than jsonb.
drop function if exists record_calls(jsonb);
create or replace function record_calls(p_calls json) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_recorded integer;
begin
  for attempt in 1..2 loop
    begin
      insert into api_calls (account_id, at, request_id, method, route, status, code, detail, key_id, session_id,
          took_ms, more)
        select c.account_id, v_now - make_interval(secs => least(greatest(c.ago_ms, 0), 60000) / 1000.0), c.request_id,
          c.method, c.route, c.status, c.code, c.detail, c.key_id, c.session_id, c.took_ms, coalesce(c.more, 0)
        from json_to_recordset(p_calls) c (account_id uuid, ago_ms double precision, request_id uuid, method text,
          route text, status smallint, code text, detail text, key_id text, session_id uuid, took_ms integer,
          more integer);
      get diagnostics v_recorded = row_count;
      return v_recorded;
    exception when check_violation then
      -- There is no partition for one of the days. Any other violation fails the second time.
      if attempt = 2 then raise; end if;
      perform create_calls_day((v_now at time zone 'UTC')::date + ahead) from generate_series(-1, 1) ahead;
    end;
  end loop;
end
$$;

-- Drops days that have ended more than seven days ago. Returns how many.
create or replace function forget_calls() returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_day text;
  v_dropped integer := 0;
begin
  -- A dropped partition locks the whole log. Writers wait that long at most, and the next run tries again.
  set local lock_timeout = '200ms';
  for v_day in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'api_calls'::regclass
        -- The planner may check the names of all tables first, so others must not reach to_date.
        and case when c.relname ~ '^api_calls_[0-9]{8}$' then to_date(right(c.relname, 8), 'YYYYMMDD') end
          < (clock_timestamp() at time zone 'UTC')::date - 7
  loop
    execute format('drop table %I', v_day);
    v_dropped := v_dropped + 1;
  end loop;
  perform create_calls_day((clock_timestamp() at time zone 'UTC')::date + ahead) from generate_series(0, 1) ahead;
  return v_dropped;
end
$$;
