-- Console actions with more than one step. Each function locks before it reads the clock.

-- Returns false if too many codes were requested for this address or from this network. The limits
-- are the same for known and unknown addresses.
create or replace function create_sign_in_code(
  p_challenge uuid,
  p_user uuid,
  p_email_hash bytea,
  p_source_hash bytea,
  p_code_hash bytea,
  p_lifetime interval
) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_now timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended(encode(p_email_hash, 'hex'), 0));
  v_now := clock_timestamp();
  delete from sign_in_codes where created_at < v_now - interval '1 day';
  if (select count(*) from sign_in_codes where email_hash = p_email_hash) >= 30
    or (select count(*) from sign_in_codes
      where email_hash = p_email_hash and source_hash = p_source_hash
        and created_at > v_now - interval '1 hour') >= 6
    or (select count(*) from sign_in_codes
      where source_hash = p_source_hash and created_at > v_now - interval '1 hour') >= 60 then
    return false;
  end if;
  insert into sign_in_codes (challenge, user_id, email_hash, source_hash, code_hash, created_at, expires_at)
    values (p_challenge, p_user, p_email_hash, p_source_hash, p_code_hash, v_now, v_now + p_lifetime);
  return true;
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
create or replace function roll_up_usage(p_account uuid, p_batch integer) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_from bigint;
  v_to bigint;
  v_last bigint;
begin
  insert into usage_rolled (account_id) values (p_account) on conflict do nothing;
  select rolled_seq into v_from from usage_rolled where account_id = p_account for update;
  -- Transactions of an account are numbered under its lock, so once one is visible, all earlier ones are.
  select last_seq into v_last from accounts where id = p_account;
  v_to := least(v_last, v_from + p_batch);
  insert into usage_days (account_id, day, model, billable_ms, sessions)
    select p_account, (t.created_at at time zone 'UTC')::date, s.model, sum(s.billable_ms), count(*)
    from txn t join sessions s on s.account_id = t.account_id and s.id = t.session_id
    where t.account_id = p_account and t.seq > v_from and t.seq <= v_to and t.kind in ('complete', 'settle_late')
    group by 2, 3
    on conflict (account_id, day, model) do update
      set billable_ms = usage_days.billable_ms + excluded.billable_ms,
        sessions = usage_days.sessions + excluded.sessions;
  update usage_rolled set rolled_seq = v_to where account_id = p_account;
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
  update api_keys set revoked_at = coalesce(revoked_at, clock_timestamp()), slot = null, name = ''
    where account_id = p_account;
  select array_agg(user_id) into v_people from memberships where account_id = p_account;
  delete from memberships where account_id = p_account;
  delete from invitations where account_id = p_account;
  perform forget_person(person) from unnest(v_people) person;
  delete from waitlist where account_id = p_account;
  delete from audit_sources where account_id = p_account;
  update accounts set status = 'suspended', name = 'erased', email = null, allowed_origins = null
    where id = p_account;
  return true;
end
$$;

create or replace function set_allowed_origins(p_account uuid, p_origins text[]) returns void
language sql security definer set search_path = public, pg_temp as $$
  update accounts set allowed_origins = nullif(p_origins, '{}') where id = p_account
$$;

drop function if exists use_sign_in_code(uuid, bytea, integer);
