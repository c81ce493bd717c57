-- Passkeys and operators. No role writes the table of passkeys: a change needs the token of a session
-- that may make it.

create or replace function notify_security(p_kind text, p_about uuid, p_operators boolean) returns void
language sql as $$
  delete from security_notices where created_at < clock_timestamp() - interval '30 days';
  insert into security_notices (recipient, about, kind)
    select u.id, p_about, p_kind from console_users u where u.id = p_about or (u.is_operator and p_operators)
$$;

-- The person gets an email about every change. If they are an operator, all operators do.
create or replace function notify_passkey_change() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_user console_users;
begin
  select * into v_user from console_users
    where id = (case when tg_op = 'DELETE' then old.user_id else new.user_id end);
  -- A person who was deleted with their passkeys gets no email.
  if found then
    perform notify_security(case when tg_op = 'DELETE' then 'passkey_removed' else 'passkey_added' end,
      v_user.id, v_user.is_operator);
  end if;
  return null;
end
$$;
create or replace trigger passkeys_notice after insert or delete on passkeys
  for each row execute function notify_passkey_change();

-- Null if the code is the person's newest one and still works. Five wrong codes end it.
create or replace function enrolment_problem(p_user uuid, p_code_hash bytea) returns text
language plpgsql as $$
declare
  v_enrolment operator_enrolments;
begin
  select * into v_enrolment from operator_enrolments
    where user_id = p_user order by created_at desc limit 1 for update;
  if not found or v_enrolment.used_at is not null or v_enrolment.tries >= 5
    or v_enrolment.expires_at <= clock_timestamp() then
    return 'wrong_enrolment_code';
  end if;
  if v_enrolment.code_hash <> p_code_hash then
    update operator_enrolments set tries = tries + 1 where id = v_enrolment.id;
    perform write_audit(null, 'operator.enrolment_failed', p_user::text, null, null);
    return 'wrong_enrolment_code';
  end if;
  return null;
end
$$;

-- Why this session may not change the person's passkeys, or null. It may if a passkey was used in it
-- within the last five minutes, if an operator has a code, or for the first passkey of anybody else.
create or replace function passkey_change_problem(p_token text, p_code_hash bytea) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_session record;
begin
  select s.user_id, u.is_operator, s.verified_by = 'passkey'
      and s.confirmed_at > clock_timestamp() - interval '5 minutes' as confirmed
    into v_session
    from live_console_session(p_token) s join console_users u on u.id = s.user_id;
  return case
    when v_session.user_id is null then 'not_signed_in'
    when v_session.confirmed then null
    when p_code_hash is not null and v_session.is_operator
      then enrolment_problem(v_session.user_id, p_code_hash)
    when exists (select from passkeys where user_id = v_session.user_id) then 'confirm_first'
    when v_session.is_operator then 'enrolment_required'
  end;
end
$$;

-- Stores a device that the sign-in role has verified.
create or replace function add_passkey(
  p_token text, p_code_hash bytea, p_id uuid, p_credential_id text, p_public_key bytea, p_counter bigint,
  p_transports text[], p_name text, p_limit integer
) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_user uuid := (select user_id from live_console_session(p_token));
  v_problem text;
begin
  perform pg_advisory_xact_lock(hashtextextended(v_user::text, 3));
  v_problem := passkey_change_problem(p_token, p_code_hash);
  if v_problem is not null then
    return v_problem;
  end if;
  if (select count(*) from passkeys where user_id = v_user) >= p_limit then
    return 'passkey_limit_reached';
  end if;
  insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name)
    values (p_id, v_user, p_credential_id, p_public_key, p_counter, p_transports, p_name)
    on conflict (credential_id) do nothing;
  if not found then
    return 'passkey_refused';
  end if;
  update operator_enrolments set used_at = clock_timestamp() where user_id = v_user and used_at is null;
  if found then
    perform write_audit(null, 'operator.enrolled', v_user::text, null, jsonb_build_object('passkey_id', p_id));
  end if;
  return 'added';
end
$$;

-- Also ends the person's sessions in other browsers, because one of them may belong to a lost device.
create or replace function remove_passkey(p_token text, p_id uuid) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_user uuid := (select user_id from live_console_session(p_token));
  v_problem text;
begin
  perform pg_advisory_xact_lock(hashtextextended(v_user::text, 3));
  v_problem := passkey_change_problem(p_token, null);
  if v_problem is not null then
    return v_problem;
  end if;
  delete from passkeys where user_id = v_user and id = p_id;
  if not found then
    return 'not_found';
  end if;
  delete from console_sessions where user_id = v_user and token_hash <> hash_console_token(p_token);
  return 'removed';
end
$$;

-- For a person who lost every passkey. Returns the number of passkeys, or null for an unknown address.
create or replace function reset_passkeys(p_email text) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_user uuid := (select id from console_users where email = p_email);
  v_removed integer;
begin
  if v_user is null then
    return null;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(v_user::text, 3));
  delete from passkeys where user_id = v_user;
  get diagnostics v_removed = row_count;
  delete from console_sessions where user_id = v_user;
  return v_removed;
end
$$;

-- A new operator begins without passkeys and sessions: someone else may have added a passkey or
-- signed in with the mailbox alone.
create or replace function set_operator(p_email text, p_is_operator boolean) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_user uuid;
begin
  select id into v_user from console_users where email = p_email and is_operator <> p_is_operator for update;
  if not found then
    return exists (select from console_users where email = p_email);
  end if;
  if p_is_operator then
    perform reset_passkeys(p_email);
    update console_users set is_operator = true where id = v_user;
    perform notify_security('operator_added', v_user, true);
  else
    perform notify_security('operator_removed', v_user, true);
    update console_users set is_operator = false where id = v_user;
    delete from operator_enrolments where user_id = v_user;
  end if;
  return true;
end
$$;

-- Stores the hash of a code with which an operator signs in where no email arrives. It gives no operator's rights: those need
-- a passkey.
create or replace function create_sign_in_code(
  p_email text,
  p_challenge uuid,
  p_code_hash bytea,
  p_lifetime interval
) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_user console_users;
  v_now timestamptz;
  -- Not the hash of an address, so that these codes and emailed ones don't count against each other.
  v_counted bytea;
begin
  select * into v_user from console_users where email = p_email for update;
  if not found or not v_user.is_operator then
    return 'not_operator';
  end if;
  v_now := clock_timestamp();
  v_counted := sha256(convert_to('svc-admin ' || v_user.id, 'UTF8'));
  if (select count(*) from sign_in_codes
    where email_hash = v_counted and created_at > v_now - interval '1 hour') >= 5 then
    return 'limit_reached';
  end if;
  insert into sign_in_codes (challenge, user_id, email_hash, source_hash, code_hash, created_at, expires_at)
    values (p_challenge, v_user.id, v_counted, v_counted, p_code_hash, v_now, v_now + p_lifetime);
  perform write_audit(null, 'operator.sign_in_code_created', v_user.id::text, null, null);
  return 'created';
end
$$;

-- Stores the hash of a code with which an operator adds a passkey, within 15 minutes.
create or replace function create_enrolment(p_email text, p_id uuid, p_code_hash bytea) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_user console_users;
  v_now timestamptz;
begin
  select * into v_user from console_users where email = p_email for update;
  if not found or not v_user.is_operator then
    return 'not_operator';
  end if;
  v_now := clock_timestamp();
  delete from operator_enrolments where created_at < v_now - interval '1 day';
  if (select count(*) from operator_enrolments
    where user_id = v_user.id and created_at > v_now - interval '1 hour') >= 5 then
    return 'limit_reached';
  end if;
  insert into operator_enrolments (id, user_id, code_hash, created_at, expires_at)
    values (p_id, v_user.id, p_code_hash, v_now, v_now + interval '15 minutes');
  perform write_audit(null, 'operator.enrolment_created', v_user.id::text, null, null);
  perform notify_security('enrolment_created', v_user.id, true);
  return 'created';
end
$$;
