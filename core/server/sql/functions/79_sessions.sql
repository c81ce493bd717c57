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
  p_token_hash bytea, p_user uuid, p_verified_by text, p_client text, p_system text
) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  delete from console_sessions
    where expires_at <= v_now or last_seen_at <= v_now - console_idle_limit(false);
  insert into console_sessions
    (token_hash, user_id, account_id, created_at, expires_at, verified_by, confirmed_at, client, system)
    select p_token_hash, u.id, m.account_id, v_now,
      v_now + case when u.is_operator then interval '8 hours' else interval '14 days' end,
      p_verified_by, case when p_verified_by = 'passkey' then v_now end, p_client, p_system
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

-- Where the person of this session is signed in, the newest use first.
create or replace function list_console_sessions(p_token text) returns table (
  id uuid, client text, system text, verified_by text, created_at timestamptz, last_seen_at timestamptz,
  is_current boolean
)
language sql stable security definer set search_path = public, pg_temp as $$
  select s.id, s.client, s.system, s.verified_by, s.created_at, s.last_seen_at,
    s.token_hash = mine.token_hash
  from live_console_session(p_token) mine
    join console_users u on u.id = mine.user_id
    join console_sessions s on s.user_id = mine.user_id
  where s.expires_at > clock_timestamp()
    and s.last_seen_at > clock_timestamp() - console_idle_limit(u.is_operator)
  order by s.token_hash = mine.token_hash desc, s.last_seen_at desc
  limit 100
$$;

-- Ends one session of the same person.
create or replace function close_other_console_session(p_token text, p_id uuid) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from console_sessions s
    where s.id = p_id and s.user_id = (select user_id from live_console_session(p_token));
  return found;
end
$$;

-- Null leaves the person without a current account. Memberships are checked by the foreign key.
create or replace function switch_console_account(p_token text, p_account uuid) returns void
language sql security definer set search_path = public, pg_temp as $$
  update console_sessions set account_id = p_account where token_hash = hash_console_token(p_token)
$$;
