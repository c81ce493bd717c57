-- Browser sessions. No role can access the table. A session is found by its token, of which only
-- the hash is stored, so reading or forging rows gains nothing.

create or replace function hash_console_token(p_token text) returns bytea
language sql immutable as $$ select sha256(convert_to(p_token, 'UTF8')) $$;

-- How long a session may go without a request.
create or replace function console_idle_limit(p_is_operator boolean) returns interval
language sql immutable as $$
  select case when p_is_operator then interval '30 minutes' else interval '24 hours' end
$$;

-- The session of a token, unless it has expired or was idle for too long.
create or replace function live_console_session(p_token text) returns setof console_sessions
language sql stable as $$
  select s.* from console_sessions s join console_users u on u.id = s.user_id
  where s.token_hash = hash_console_token(p_token) and s.expires_at > clock_timestamp()
    and s.last_seen_at > clock_timestamp() - console_idle_limit(u.is_operator)
$$;

-- For the sign-in role, after it has verified a code or a passkey.
create or replace function open_console_session(
  p_token_hash bytea, p_user uuid, p_verified_by text
) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  delete from console_sessions
    where expires_at <= v_now or last_seen_at <= v_now - console_idle_limit(false);
  insert into console_sessions
    (token_hash, user_id, account_id, created_at, expires_at, verified_by, confirmed_at)
    select p_token_hash, u.id, m.account_id, v_now,
      v_now + case when u.is_operator then interval '8 hours' else interval '14 days' end,
      p_verified_by, case when p_verified_by = 'passkey' then v_now end
    from console_users u left join lateral (
      select account_id from memberships
      where user_id = u.id order by role = 'member', joined_at limit 1
    ) m on true
    where u.id = p_user;
end
$$;

-- For the sign-in role, after the signed-in person has used their passkey again.
create or replace function confirm_console_session(p_token text, p_user uuid) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update console_sessions set confirmed_at = clock_timestamp(), verified_by = 'passkey'
    where token_hash = (select token_hash from live_console_session(p_token)) and user_id = p_user;
  return found;
end
$$;

-- Also keeps the session alive, with at most one write a minute.
create or replace function find_console_session(p_token text) returns table (
  user_id uuid, email text, language text, is_operator boolean, verified_by text,
  account_id uuid, role text, account_name text, account_active boolean
)
language sql security definer set search_path = public, pg_temp as $$
  update console_sessions set last_seen_at = clock_timestamp()
    where token_hash = (select token_hash from live_console_session(p_token))
      and last_seen_at < clock_timestamp() - interval '1 minute';
  select u.id, u.email, u.language, u.is_operator, s.verified_by,
    m.account_id, m.role, a.name::text, a.status = 'active'
  from live_console_session(p_token) s join console_users u on u.id = s.user_id
    left join memberships m on m.account_id = s.account_id and m.user_id = s.user_id
    left join accounts a on a.id = m.account_id
$$;

create or replace function close_console_session(p_token text) returns void
language sql security definer set search_path = public, pg_temp as $$
  delete from console_sessions where token_hash = hash_console_token(p_token)
$$;

-- Signs the person out in every browser, this one included.
create or replace function close_console_sessions(p_token text) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_closed integer;
begin
  delete from console_sessions
    where user_id = (select user_id from live_console_session(p_token));
  get diagnostics v_closed = row_count;
  return v_closed;
end
$$;

-- Null leaves the person without a current account. Memberships are checked by the foreign key.
create or replace function switch_console_account(p_token text, p_account uuid) returns void
language sql security definer set search_path = public, pg_temp as $$
  update console_sessions set account_id = p_account where token_hash = hash_console_token(p_token)
$$;

-- Returns the operator of a session if they used a passkey within the last five minutes.
create or replace function confirmed_operator(
  p_token text, out o_email text, out o_problem text
)
language plpgsql stable as $$
declare
  v_confirmed timestamptz;
begin
  select u.email, s.confirmed_at into o_email, v_confirmed
    from live_console_session(p_token) s join console_users u on u.id = s.user_id
    where u.is_operator and s.verified_by = 'passkey';
  o_problem := case
    when o_email is null then 'not_found'
    when v_confirmed is null or v_confirmed < clock_timestamp() - interval '5 minutes'
      then 'confirm_first'
  end;
end
$$;

-- Approves a waitlist entry from the operators' page, atomically. Grants at most 10 hours of credit
-- per approval and 100 hours a day per operator. Approving twice grants once.
create or replace function approve_as_operator(
  p_token text, p_entry uuid, p_account uuid, p_ms bigint
) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_operator record;
  v_status waitlist_status;
  v_account uuid;
begin
  select * into v_operator from confirmed_operator(p_token);
  if v_operator.o_problem is not null then
    return v_operator.o_problem;
  end if;
  -- Serialised per operator, so that the sum below includes concurrent approvals.
  perform pg_advisory_xact_lock(hashtextextended(v_operator.o_email, 4));
  select status into v_status from waitlist where id = p_entry for update;
  if v_status = 'approved' then
    return 'approved';
  end if;
  if p_ms > 36000000 or p_ms + (
    select coalesce(sum(granted_ms), 0) from waitlist
    where decided_by = v_operator.o_email and decided_at > clock_timestamp() - interval '1 day'
      and granted_ms is not null
  ) > 360000000 then
    return 'credit_limit_reached';
  end if;
  v_account := approve_waitlist(p_entry, p_account, v_operator.o_email);
  if v_account is null then
    return 'not_found';
  end if;
  -- The entry's id identifies the grant.
  perform grant_credit(v_account, p_ms, 'first credit after the waitlist', v_operator.o_email, p_entry);
  update waitlist set granted_ms = p_ms where id = p_entry;
  return 'approved';
end
$$;

create or replace function decline_as_operator(p_token text, p_entry uuid) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_operator record;
begin
  select * into v_operator from confirmed_operator(p_token);
  if v_operator.o_email is null then
    return 'not_found';
  end if;
  update waitlist
    set status = 'declined', decided_at = clock_timestamp(), decided_by = v_operator.o_email
    where id = p_entry and status = 'waiting';
  return case when found then 'declined' else 'not_found' end;
end
$$;

-- Suspends or resumes an account. An erased account is not changed.
create or replace function set_account_status_as_operator(
  p_token text, p_account uuid, p_status account_status
) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_operator record;
begin
  select * into v_operator from confirmed_operator(p_token);
  if v_operator.o_problem is not null then
    return v_operator.o_problem;
  end if;
  update accounts set status = p_status where id = p_account and not (name = 'erased' and email is null);
  return case when found then 'done' else 'not_found' end;
end
$$;

drop function if exists approve_as_operator(uuid, uuid, uuid, bigint);
drop function if exists decline_as_operator(uuid, uuid);
