-- Triggers that write the audit log. The context of a request is set for one transaction:
-- svc.actor, svc.request_id, svc.source, svc.reason. The login is always determined by the database.

create or replace trigger audit_log_append_only before update or delete on audit_log
  for each row execute function refuse_change('the audit log only grows');
create or replace trigger audit_log_not_truncated before truncate on audit_log
  for each statement execute function refuse_change('the audit log only grows');

create or replace function write_audit(
  p_account uuid, p_action text, p_target text, p_before jsonb, p_after jsonb, p_actor uuid default null
) returns void
language plpgsql as $$
declare
  v_id bigint;
  v_source text := nullif(current_setting('svc.source', true), '');
begin
  insert into audit_log (account_id, login, actor_id, action, target, before, after, request_id)
    values (p_account, session_user,
      coalesce(p_actor, nullif(current_setting('svc.actor', true), '')::uuid),
      p_action, p_target, p_before, p_after, nullif(current_setting('svc.request_id', true), ''))
    returning id into v_id;
  if v_source is not null then
    insert into audit_sources (audit_id, account_id, source) values (v_id, p_account, left(v_source, 100));
  end if;
end
$$;

-- Whether this transaction copies the account from another cell. No committed row is in this state.
create or replace function is_copying(p_account uuid) returns boolean
language sql stable as $$
  select exists (select from accounts where id = p_account and move_state = 'copying')
$$;

-- Arguments: the kind of row, the column that identifies it, and the columns to record.
create or replace function audit_change() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_old jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  v_new jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  v_row jsonb := coalesce(v_new, v_old);
  v_reason jsonb := jsonb_strip_nulls(
    jsonb_build_object('reason', nullif(current_setting('svc.reason', true), '')));
  v_before jsonb;
  v_after jsonb;
begin
  select jsonb_object_agg(c, v_old -> c), jsonb_object_agg(c, v_new -> c) into v_before, v_after
    from unnest(string_to_array(tg_argv[2], ' ')) c
    where tg_op <> 'UPDATE' or v_old -> c is distinct from v_new -> c;
  if tg_op = 'UPDATE' and v_after is null then
    return null;
  end if;
  -- A copy from another cell includes its entries.
  if is_copying(case when tg_table_name = 'accounts' then v_row ->> 'id' else v_row ->> 'account_id' end::uuid) then
    return null;
  end if;
  perform write_audit(
    case when tg_table_name = 'accounts' then v_row ->> 'id' else v_row ->> 'account_id' end::uuid,
    tg_argv[0] || case tg_op when 'INSERT' then '.created' when 'UPDATE' then '.changed' else '.deleted' end,
    v_row ->> tg_argv[1],
    case when tg_op <> 'INSERT' then v_before end,
    case when tg_op <> 'DELETE' then v_after || v_reason end);
  return null;
end
$$;

create or replace trigger api_keys_audit
  after insert or update of scopes, expires_at, revoked_at or delete on api_keys
  for each row execute function audit_change('api_key', 'id', 'scopes expires_at revoked_at');
create or replace trigger accounts_audit
  after insert or update of status, concurrency_limit, key_limit, allowed_origins, move_state or delete on accounts
  for each row execute function audit_change(
    'account', 'id', 'status concurrency_limit key_limit allowed_origins move_state move_cell');
create or replace trigger memberships_audit after insert or update of role or delete on memberships
  for each row execute function audit_change('member', 'user_id', 'role');
create or replace trigger invitations_audit after insert or update of status on invitations
  for each row execute function audit_change('invitation', 'id', 'role status');
create or replace trigger passkeys_audit after insert or delete on passkeys
  for each row execute function audit_change('passkey', 'user_id', 'id');
create or replace trigger waitlist_audit after update of status on waitlist
  for each row execute function audit_change('waitlist', 'id', 'status account_id');
create or replace trigger incidents_audit after insert or update of text, started_at, ended_at or delete on incidents
  for each row execute function audit_change('incident', 'id', 'text started_at ended_at');
create or replace trigger console_users_audit after update of is_operator on console_users
  for each row execute function audit_change('operator', 'id', 'is_operator');

create or replace function audit_credit() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if is_copying(new.account_id) then
    return null;
  end if;
  perform write_audit(new.account_id, 'credit.' || new.kind, new.account_id || '/' || new.seq,
    jsonb_build_object('available_ms', new.available_after_ms - new.available_ms),
    jsonb_strip_nulls(jsonb_build_object('available_ms', new.available_after_ms,
      'reason', nullif(current_setting('svc.reason', true), ''))));
  return null;
end
$$;
create or replace trigger txn_audit after insert on txn
  for each row when (new.kind in ('grant', 'adjust')) execute function audit_credit();

create or replace function audit_sign_in() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_audit(new.account_id, 'sign_in', new.user_id::text, null,
    jsonb_build_object('verified_by', new.verified_by), new.user_id);
  return null;
end
$$;
create or replace trigger console_sessions_audit after insert on console_sessions
  for each row execute function audit_sign_in();

create or replace function audit_failed_sign_in() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_audit(null, 'sign_in.failed', new.user_id::text, null, null);
  return null;
end
$$;
create or replace trigger sign_in_codes_audit after update of tries on sign_in_codes
  for each row when (new.tries > old.tries and new.user_id is not null)
  execute function audit_failed_sign_in();

-- One entry per operator command, including read-only ones.
create or replace function log_command(p_command text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform write_audit(null, 'command', left(p_command, 200), null, null);
end
$$;

create or replace function forget_audit_sources() returns void
language sql security definer set search_path = public, pg_temp as $$
  delete from audit_sources where at < clock_timestamp() - interval '90 days'
$$;
