-- Changes to accounts, keys and the waitlist that need a lock or more than one row.

-- Sessions that are live now were admitted before the change, even if the clock was set back since.
create or replace function set_concurrency(p_account uuid, p_limit integer) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform from accounts where id = p_account for no key update;
  update accounts set concurrency_limit = p_limit, limit_changed_at = greatest(clock_timestamp(), (
      select max(created_at) from sessions where account_id = p_account and slot is not null))
    where id = p_account;
  return found;
end
$$;

-- How many live keys the account may create, successors not counted. Live keys above a lowered limit keep working.
create or replace function set_key_limit(p_account uuid, p_limit integer) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update accounts set key_limit = p_limit where id = p_account;
  return found;
end
$$;

-- Locks the account, and gives the numbers of its expired keys back.
create or replace function lock_keys(p_account uuid) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform from accounts where id = p_account for no key update;
  if not found then
    raise exception 'account % does not exist', p_account using errcode = 'no_data_found';
  end if;
  update api_keys set live_number = null
    where account_id = p_account and live_number is not null and expires_at <= clock_timestamp();
end
$$;

-- Returns false if the account has as many live keys as it may. The live numbers 2n - 1 and 2n are a key and its successor.
create or replace function create_api_key(
  p_account uuid,
  p_id text,
  p_hmac bytea,
  p_name text,
  p_scopes text[],
  p_expires_at timestamptz,
  p_pepper smallint
) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_number smallint;
begin
  perform lock_keys(p_account);
  select 2 * n - 1 into v_number from accounts a, generate_series(1, a.key_limit) n
    where a.id = p_account
      and not exists (select from api_keys where account_id = p_account and live_number in (2 * n - 1, 2 * n))
    order by n limit 1;
  if v_number is null then
    return false;
  end if;
  insert into api_keys (id, account_id, hmac, name, scopes, live_number, expires_at, pepper_id)
    values (p_id, p_account, p_hmac, p_name, p_scopes, v_number, p_expires_at, p_pepper);
  return true;
end
$$;

-- Creates the successor of a live key, with its name and models: 'created', 'not_live', or 'rotated' if another key is
-- its predecessor or successor and both are live.
create or replace function rotate_api_key(
  p_account uuid, p_old text, p_id text, p_hmac bytea, p_expires_at timestamptz, p_pepper smallint
) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_old api_keys;
  v_number smallint;
begin
  perform lock_keys(p_account);
  select * into v_old from api_keys where id = p_old and account_id = p_account;
  if v_old.live_number is null then
    return 'not_live';
  end if;
  v_number := case when v_old.live_number % 2 = 1 then v_old.live_number + 1 else v_old.live_number - 1 end;
  if exists (select from api_keys where account_id = p_account and live_number = v_number) then
    return 'rotated';
  end if;
  insert into api_keys (id, account_id, hmac, name, scopes, live_number, expires_at, pepper_id)
    values (p_id, p_account, p_hmac, v_old.name, v_old.scopes, v_number, p_expires_at, p_pepper);
  return 'created';
end
$$;

-- Replaces the hash of a key that has just been verified with the old one.
create or replace function rehash_api_key(
  p_id text, p_old_hmac bytea, p_hmac bytea, p_pepper smallint
) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update api_keys set hmac = p_hmac, pepper_id = p_pepper
    where id = p_id and hmac = p_old_hmac
      -- The copy in another cell must stay the same.
      and not exists (select from accounts a where a.id = account_id and a.move_state is not null);
  return found;
end
$$;

-- Returns true if the key is now revoked, even if it was before.
create or replace function revoke_api_key(p_account uuid, p_id text) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update api_keys set revoked_at = coalesce(revoked_at, clock_timestamp()), live_number = null
    where id = p_id and account_id = p_account;
  return found;
end
$$;

-- Returns false if the account has no such key.
create or replace function rename_api_key(p_account uuid, p_id text, p_name text) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update api_keys set name = p_name where id = p_id and account_id = p_account
    -- The copy in another cell must stay the same.
    and not exists (select from accounts a where a.id = p_account and a.move_state is not null);
  if not found then
    return false;
  end if;
  -- Without the names: the audit log is permanent, and a name is erased with its account.
  perform write_audit(p_account, 'api_key.renamed', p_id, null, null);
  return true;
end
$$;

-- At most one write a minute for each key, however busy it is.
create or replace function touch_api_keys(p_ids text[]) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_touched integer;
begin
  update api_keys set last_used_at = clock_timestamp()
    where id = any (p_ids)
      and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute');
  get diagnostics v_touched = row_count;
  return v_touched;
end
$$;

-- Creates the account of a person on the waitlist. It is always their own, so that the credit never
-- goes to an account that invited them. Repeated, it returns the same account. Null for an unknown
-- entry.
create or replace function approve_waitlist(p_id uuid, p_account uuid, p_actor text) returns uuid
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_entry waitlist;
  v_user uuid;
begin
  select * into v_entry from waitlist where id = p_id for update;
  if not found or v_entry.status = 'declined' then
    return null;
  end if;
  if v_entry.status = 'approved' then
    return v_entry.account_id;
  end if;
  insert into accounts (id, name, email)
    values (p_account, coalesce(nullif(v_entry.name, ''), v_entry.email), v_entry.email);
  v_user := ensure_person(v_entry.email, v_entry.language);
  insert into memberships (account_id, user_id, role) values (p_account, v_user, 'owner');
  update console_users
    set welcomed_at = null, welcome_tries = 0, welcome_after = clock_timestamp() where id = v_user;
  update waitlist
    set status = 'approved', account_id = p_account, decided_at = clock_timestamp(), decided_by = p_actor
    where id = p_id;
  return p_account;
end
$$;

-- Declines a waiting request. False: none waits under this id.
create or replace function decline_waitlist(p_id uuid, p_actor text, p_reason text) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform set_config('svc.reason', p_reason, true);
  update waitlist
    set status = 'declined', decided_at = clock_timestamp(), decided_by = p_actor,
      decision_reason = nullif(p_reason, '')
    where id = p_id and status = 'waiting';
  return found;
end
$$;

-- Removes the personal data of a request that has no account. Returns its status before, or null for an unknown entry. An
-- approved one stays: it is erased with its account.
create or replace function erase_waitlist_entry(p_id uuid) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_status waitlist_status;
begin
  select status into v_status from waitlist where id = p_id for update;
  if v_status <> 'approved' then
    delete from waitlist where id = p_id;
    perform write_audit(null, 'waitlist.erased', p_id::text, null, null);
  end if;
  return v_status;
end
$$;

-- Asks the node of an open stream to end it. Returns what the session is: 'active', 'reserved', or 'over'. Null: unknown.
create or replace function request_session_end(p_session uuid) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_session sessions;
begin
  select s.* into v_session from txn t
    join sessions s on s.account_id = t.account_id and s.id = t.session_id
    where t.session_id = p_session and t.kind = 'reserve';
  if not found then
    return null;
  end if;
  if v_session.completed_at is not null then
    return 'over';
  end if;
  if v_session.status <> 'active' then
    return v_session.status;
  end if;
  delete from session_end_requests where requested_at < clock_timestamp() - interval '1 day';
  insert into session_end_requests (session_id, account_id) values (p_session, v_session.account_id)
    on conflict do nothing;
  if found then
    perform write_audit(v_session.account_id, 'session.end_requested', p_session::text, null, null);
  end if;
  return 'active';
end
$$;
