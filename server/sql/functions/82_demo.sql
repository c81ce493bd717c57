-- The demo on the public page: one session per network and UTC day, and so many a day in all. The table is closed to
-- every role.

create or replace function demo_day() returns date
language sql stable as $$ select (clock_timestamp() at time zone 'UTC')::date $$;

-- 'claimed', 'used' if this network had its session today, or 'closed' if the day's sessions are used up.
create or replace function claim_demo(p_network bytea, p_per_day integer) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- One at a time, so that the count below includes concurrent claims.
  perform pg_advisory_xact_lock(hashtextextended('demo_claims', 0));
  if exists (select 1 from demo_claims where day = demo_day() and network_hash = p_network) then
    return 'used';
  end if;
  if (select count(*) from demo_claims where day = demo_day()) >= p_per_day then
    return 'closed';
  end if;
  insert into demo_claims (day, network_hash) values (demo_day(), p_network);
  return 'claimed';
end
$$;

-- Gives the claim back if no session could be reserved.
create or replace function release_demo(p_network bytea) returns void
language sql security definer set search_path = public, pg_temp as $$
  delete from demo_claims where day = demo_day() and network_hash = p_network
$$;

create or replace function forget_demo_claims() returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_forgotten integer;
begin
  delete from demo_claims where day < demo_day();
  get diagnostics v_forgotten = row_count;
  return v_forgotten;
end
$$;
