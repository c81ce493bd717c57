-- Console actions with more than one step. Each function locks before it reads the clock.

-- How long until fewer than `p_limit` of these times are within the last hour. Zero or less: there are fewer now.
create or replace function wait_for_fewer(p_times timestamptz[], p_limit integer, p_now timestamptz) returns interval
language sql immutable as $$
  select coalesce((
    select t + interval '1 hour' - p_now from unnest(p_times) t order by t desc offset p_limit - 1 limit 1
  ), interval '0')
$$;

-- Creates a code and returns 0, or the seconds to wait if too many were requested. The limits are the same for
-- known and unknown addresses:
--   on a device that this person has used:    10 an hour for the address and device, and no other limit
--   elsewhere:                                6 an hour for the address and network, 60 an hour for the network
--   from a network they never signed in from: also 10 an hour for the address, or 30 for the first code of a network
-- The last rule bounds unwanted emails. Few networks can't use it up for a person on another one.
create or replace function request_sign_in_code(
  p_challenge uuid,
  p_user uuid,
  p_email_hash bytea,
  -- With each secret, the current one first.
  p_source_hashes bytea[],
  -- Empty without a device cookie.
  p_device_hashes bytea[],
  p_code_hash bytea,
  p_lifetime interval
) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_now timestamptz;
  v_source bytea := p_source_hashes[1];
  v_device bytea;
  v_here timestamptz[];
  v_all timestamptz[];
  v_network timestamptz[];
  v_wait interval;
begin
  perform pg_advisory_xact_lock(hashtextextended(encode(p_email_hash, 'hex'), 0));
  v_now := clock_timestamp();
  delete from sign_in_codes where created_at < v_now - interval '1 day';
  select p_device_hashes[1] into v_device from known_places
    where user_id = p_user and place_hash = any (p_device_hashes) limit 1;
  if v_device is not null then
    v_wait := wait_for_fewer(array(
      select created_at from sign_in_codes where email_hash = p_email_hash and device_hash = any (p_device_hashes)
    ), 10, v_now);
  else
    v_all := array(select created_at from sign_in_codes
      where email_hash = p_email_hash and device_hash is null and created_at > v_now - interval '1 hour');
    v_here := array(select created_at from sign_in_codes
      where email_hash = p_email_hash and device_hash is null and source_hash = v_source
        and created_at > v_now - interval '1 hour');
    v_network := array(select created_at from sign_in_codes
      where source_hash = v_source and device_hash is null and created_at > v_now - interval '1 hour');
    v_wait := greatest(wait_for_fewer(v_here, 6, v_now), wait_for_fewer(v_network, 60, v_now));
    if not exists (
      select from known_places where user_id = p_user and place_hash = any (p_source_hashes)
    ) then
      v_wait := greatest(v_wait, least(
        wait_for_fewer(v_all, 10, v_now),
        greatest(wait_for_fewer(v_here, 1, v_now), wait_for_fewer(v_all, 30, v_now))));
    end if;
  end if;
  if v_wait > interval '0' then
    return ceil(extract(epoch from v_wait));
  end if;
  insert into sign_in_codes
    (challenge, user_id, email_hash, source_hash, device_hash, code_hash, created_at, expires_at)
    values (p_challenge, p_user, p_email_hash, v_source, v_device, p_code_hash, v_now, v_now + p_lifetime);
  return 0;
end
$$;

-- Remembers the device and network of a sign-in, for 180 days and at most 20 of a person.
create or replace function remember_places(p_user uuid, p_place_hashes bytea[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into known_places (user_id, place_hash, last_used_at)
    select distinct p_user, h, clock_timestamp() from unnest(p_place_hashes) h
    on conflict (user_id, place_hash) do update set last_used_at = excluded.last_used_at;
  delete from known_places k where k.user_id = p_user and (
    k.last_used_at < clock_timestamp() - interval '180 days'
    or k.place_hash not in (
      select place_hash from known_places where user_id = p_user order by last_used_at desc limit 20));
end
$$;

-- Returns the user the first time. Null if the code is wrong, used, expired, tried too often or was sent to nobody.
create or replace function use_sign_in_code(p_challenge uuid, p_code_hashes bytea[], p_tries integer) returns uuid
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_code sign_in_codes;
begin
  select * into v_code from sign_in_codes where challenge = p_challenge for update;
  if not found or v_code.used_at is not null or v_code.tries >= p_tries
    or v_code.expires_at <= clock_timestamp() then
    return null;
  end if;
  if v_code.code_hash <> all (p_code_hashes) then
    update sign_in_codes set tries = tries + 1 where challenge = p_challenge;
    return null;
  end if;
  update sign_in_codes set used_at = clock_timestamp() where challenge = p_challenge;
  update console_users set first_sign_in_at = coalesce(first_sign_in_at, clock_timestamp())
    where id = v_code.user_id;
  return v_code.user_id;
end
$$;

-- Adds ledger charges since the last call, up to this many transactions. Returns true if there are more.
create or replace function roll_up_usage_by_key(p_account uuid, p_batch integer) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_from bigint;
  v_to bigint;
  v_last bigint;
begin
  insert into usage_by_key_rolled (account_id) values (p_account) on conflict do nothing;
  select rolled_seq into v_from from usage_by_key_rolled where account_id = p_account for update;
  -- Transactions of an account are numbered under its lock, so once one is visible, all earlier ones are.
  select last_seq into v_last from accounts where id = p_account;
  v_to := least(v_last, v_from + p_batch);
  insert into usage_by_key as u (account_id, day, model, key_id, billable_ms, sessions)
    select p_account, (t.created_at at time zone 'UTC')::date, s.model, coalesce(s.key_id, ''), sum(t.consumed_ms),
      count(*)
    from txn t join sessions s on s.account_id = t.account_id and s.id = t.session_id
    where t.account_id = p_account and t.seq > v_from and t.seq <= v_to and t.kind in ('complete', 'settle_late')
    group by 2, 3, 4
    on conflict (account_id, day, model, key_id) do update
      set billable_ms = u.billable_ms + excluded.billable_ms, sessions = u.sessions + excluded.sessions;
  update usage_by_key_rolled set rolled_seq = v_to where account_id = p_account;
  return v_to < v_last;
end
$$;

-- Returns false if a session is reserved or active. Removes all personal data and keeps the figures.
create or replace function erase_account(p_account uuid) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_people uuid[];
begin
  perform from accounts where id = p_account for no key update;
  if exists (
    select from sessions where account_id = p_account and slot is not null
      and not (status = 'reserved' and expires_at <= clock_timestamp())
  ) then
    return false;
  end if;
  update api_keys set revoked_at = coalesce(revoked_at, clock_timestamp()), live_number = null, name = ''
    where account_id = p_account;
  select array_agg(user_id) into v_people from memberships where account_id = p_account;
  delete from memberships where account_id = p_account;
  delete from invitations where account_id = p_account;
  perform forget_person(person) from unnest(v_people) person;
  delete from waitlist where account_id = p_account;
  delete from audit_sources where account_id = p_account;
  delete from session_details where account_id = p_account;
  delete from api_calls where account_id = p_account;
  delete from credit_notices where account_id = p_account;
  delete from credit_levels where account_id = p_account;
  delete from credit_requests where account_id = p_account;
  update accounts set status = 'suspended', name = 'erased', email = null, allowed_origins = null
    where id = p_account;
  return true;
end
$$;

create or replace function set_allowed_origins(p_account uuid, p_origins text[]) returns void
language sql security definer set search_path = public, pg_temp as $$
  update accounts set allowed_origins = nullif(p_origins, '{}') where id = p_account
$$;

-- The demo on the public page: one session per network and UTC day, and so many a day in all. The table is closed to
-- every role.

create or replace function demo_day() returns date
language sql stable as $$ select (clock_timestamp() at time zone 'UTC')::date $$;

-- 'used' if this network had its session today or its block has had its share, 'closed' if the day's sessions are used up,
-- otherwise null. One block gets a tenth of them and at least ten, because its owner has thousands of networks.
create or replace function demo_refusal(p_network bytea, p_per_day integer, p_block bytea) returns text
language sql stable set search_path = public, pg_temp as $$
  select case
    when exists (select 1 from demo_claims where day = demo_day() and network_hash = p_network) then 'used'
    when (select count(*) from demo_claims where day = demo_day()) >= p_per_day then 'closed'
    when (select count(*) from demo_claims where day = demo_day() and block_hash = p_block) >= greatest(10, p_per_day / 10)
      then 'used'
  end
$$;

drop function if exists claim_demo(bytea, integer);

-- Claims the demo of this network and returns 'claimed', or what demo_refusal says.
create or replace function claim_demo(p_network bytea, p_per_day integer, p_block bytea default null) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_refusal text;
begin
  -- One at a time, so that the counts include concurrent claims.
  perform pg_advisory_xact_lock(hashtextextended('demo_claims', 0));
  v_refusal := demo_refusal(p_network, p_per_day, p_block);
  if v_refusal is not null then
    return v_refusal;
  end if;
  insert into demo_claims (day, network_hash, block_hash) values (demo_day(), p_network, p_block);
  return 'claimed';
end
$$;

drop function if exists demo_state(bytea, integer, uuid, bigint);

-- What claim_demo and a reservation would answer now: 'open', 'used' or 'closed'. Changes nothing.
create or replace function demo_state(p_network bytea, p_per_day integer, p_block bytea, p_account uuid, p_ms bigint) returns text
language sql security definer set search_path = public, pg_temp as $$
  select coalesce(
    demo_refusal(p_network, p_per_day, p_block),
    (select 'open' from accounts where id = p_account and status = 'active' and available_ms >= p_ms),
    'closed'
  )
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
