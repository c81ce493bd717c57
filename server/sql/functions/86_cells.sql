-- Moves an account to another cell. Each function is safe to repeat and locks the account first. In all states but
-- null the account gets no session here, so it can be spent in one cell at most:
--   here:   null -> moving -> sealed -> moved
--   there:  (none) -> arriving -> null, opened only after the source says moved

create or replace function set_cell(p_id text) returns text
language sql security definer set search_path = public, pg_temp as $$
  insert into cell (id) values (p_id) on conflict do nothing;
  select id from cell
$$;

create or replace function report_peppers(p_ids smallint[], p_fingerprints bytea[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from cell_peppers where pepper_id <> all (p_ids);
  insert into cell_peppers select * from unnest(p_ids, p_fingerprints)
    on conflict (pepper_id) do update set fingerprint = excluded.fingerprint
      where cell_peppers.fingerprint <> excluded.fingerprint;
end
$$;

-- Rows of an account that is sealed, moved or not open yet can't change, because the change would be lost.
create or replace function refuse_while_away() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_account uuid := (case when tg_op = 'DELETE' then old.account_id else new.account_id end);
begin
  if exists (select from accounts where id = v_account and move_state in ('sealed', 'moved', 'arriving')) then
    raise exception 'account % is between two cells, so it cannot change here', v_account
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end
$$;
create or replace trigger accounts_not_here before update on accounts
  for each row when (old.move_state in ('sealed', 'moved', 'arriving')
    and new.move_state is not distinct from old.move_state)
  execute function refuse_change('the account is between two cells');
create or replace trigger api_keys_not_here
  before insert or delete or update of account_id, name, scopes, slot, expires_at, revoked_at on api_keys
  for each row execute function refuse_while_away();
create or replace trigger memberships_not_here before insert or update or delete on memberships
  for each row execute function refuse_while_away();
create or replace trigger invitations_not_here before insert on invitations
  for each row execute function refuse_while_away();
-- Invitations expire in bulk, for all accounts at once.
create or replace trigger invitations_not_answered_here before update of status on invitations
  for each row when (new.status <> 'expired') execute function refuse_while_away();

-- Returns the id of the move. An unfinished move to the same cell keeps its id.
create or replace function freeze_account(p_account uuid, p_move uuid, p_to text) returns uuid
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_account accounts;
begin
  select * into v_account from accounts where id = p_account for no key update;
  if v_account.move_state in ('moving', 'sealed') and v_account.move_cell = p_to then
    return v_account.move_id;
  end if;
  if v_account.id is null or v_account.move_state is not null then
    raise exception 'account % is not in this cell', p_account using errcode = 'object_not_in_prerequisite_state';
  end if;
  update accounts set move_state = 'moving', move_id = p_move, move_cell = p_to where id = p_account;
  return p_move;
end
$$;

-- Returns the number of live sessions. If there are none, seals the account.
create or replace function seal_account(p_account uuid, p_move uuid) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_account accounts;
  v_lapsed sessions;
  v_live integer;
begin
  select * into v_account from accounts where id = p_account for no key update;
  if v_account.move_id is distinct from p_move or v_account.move_state not in ('moving', 'sealed') then
    raise exception 'move % of account % was cancelled', p_move, p_account
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  for v_lapsed in
    select * from sessions where account_id = p_account and slot is not null and status = 'reserved'
      and expires_at <= clock_timestamp() for update
  loop
    perform end_session(v_lapsed, 'expired', 0, v_lapsed.expires_at);
  end loop;
  select count(*) into v_live from sessions where account_id = p_account and slot is not null;
  if v_live = 0 then
    update accounts set move_state = 'sealed' where id = p_account and move_state = 'moving';
  end if;
  return v_live;
end
$$;

-- Cancels the move. Returns false if the account has already left or was not moving.
create or replace function cancel_move(p_account uuid) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update accounts set move_state = null, move_id = null, move_cell = null
    where id = p_account and move_state in ('moving', 'sealed');
  return found;
end
$$;

-- All rows to copy, in insertion order. Daily usage is rebuilt from the ledger.
create or replace function export_account(p_account uuid) returns table (part text, content jsonb)
language sql stable security definer set search_path = public, pg_temp as $$
  select 'account', to_jsonb(a) - array['move_state', 'move_id', 'move_cell'] from accounts a where a.id = p_account
  union all select 'api_keys', to_jsonb(k) from api_keys k where k.account_id = p_account
  union all select 'sessions', to_jsonb(s) from sessions s where s.account_id = p_account
  union all select 'txn', to_jsonb(t) from txn t where t.account_id = p_account
  union all select 'claim_log', to_jsonb(c) from claim_log c where c.account_id = p_account
  union all select 'idempotency', to_jsonb(i) from idempotency i where i.account_id = p_account
  union all select 'members', to_jsonb(m) || jsonb_build_object('email', u.email, 'language', u.language,
      'created_at', u.created_at, 'first_sign_in_at', u.first_sign_in_at)
    from memberships m join console_users u on u.id = m.user_id where m.account_id = p_account
  union all select 'invitations', to_jsonb(i) - 'invited_by' from invitations i where i.account_id = p_account
  union all select 'audit', to_jsonb(l) - 'id' || jsonb_build_object('source', s.source, 'source_at', s.at)
    from audit_log l left join audit_sources s on s.audit_id = l.id where l.account_id = p_account
$$;

-- Equal in both cells if no row is missing, extra or different. Excludes data that may change
-- during the move without being lost (key usage, a person's settings, expiry), and the audit log,
-- which each cell appends to.
create or replace function digest_account(p_account uuid) returns table (part text, counted bigint, digest text)
language sql stable security definer set search_path = public, pg_temp as $$
  select e.part, count(*),
    sum(('x' || left(md5((e.content - array['last_used_at', 'user_id', 'language', 'created_at',
      'first_sign_in_at', 'status', 'email_due_at', 'email_tries']
      || case when e.part in ('sessions', 'txn', 'api_keys', 'account')
        then jsonb_build_object('created_at', e.content -> 'created_at', 'status', e.content -> 'status')
        else '{}' end)::text), 15))::bit(60)::bigint::numeric)::text
  from export_account(p_account) e where e.part not in ('audit', 'idempotency') group by e.part
$$;

-- Inside one transaction of the target: begin, rows in batches, end. An earlier copy is completed:
-- its ledger is a prefix of the same history, and all mutable rows are replaced.
create or replace function begin_import(p_move uuid, p_from text, p_content text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_new accounts := jsonb_populate_record(null::accounts, p_content::jsonb);
  v_known accounts;
begin
  insert into accounts (id, name, email, status, concurrency_limit, limit_changed_at, allowed_origins, created_at,
      move_state, move_id, move_cell)
    values (v_new.id, v_new.name, v_new.email, v_new.status, v_new.concurrency_limit, v_new.limit_changed_at,
      v_new.allowed_origins, v_new.created_at, 'copying', p_move, p_from)
    on conflict do nothing;
  select * into v_known from accounts where id = v_new.id for update;
  if v_known.move_state in ('moved', 'arriving') then
    update accounts set move_state = 'copying', move_id = p_move, move_cell = p_from, name = v_new.name,
      email = v_new.email, status = v_new.status, concurrency_limit = v_new.concurrency_limit,
      limit_changed_at = v_new.limit_changed_at, allowed_origins = v_new.allowed_origins
      where id = v_new.id;
  elsif v_known.move_state is distinct from 'copying' then
    raise exception 'account % is already in this cell', v_new.id using errcode = 'object_not_in_prerequisite_state';
  end if;
  delete from api_keys where account_id = v_new.id;
  delete from memberships where account_id = v_new.id;
  delete from invitations where account_id = v_new.id;
  delete from idempotency where account_id = v_new.id;
end
$$;

create or replace function import_rows(p_account uuid, p_move uuid, p_part text, p_contents text[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not exists (select from accounts where id = p_account and move_id = p_move and move_state = 'copying') then
    raise exception 'no copy of account % has begun', p_account using errcode = 'object_not_in_prerequisite_state';
  end if;
  if exists (select from unnest(p_contents) c where (c::jsonb ->> 'account_id')::uuid is distinct from p_account) then
    raise exception 'a row belongs to another account than %', p_account using errcode = 'invalid_parameter_value';
  end if;
  case p_part
    when 'api_keys' then
      insert into api_keys select r.* from unnest(p_contents) c, jsonb_populate_record(null::api_keys, c::jsonb) r;
    when 'sessions' then
      insert into sessions select r.* from unnest(p_contents) c, jsonb_populate_record(null::sessions, c::jsonb) r
        -- Settled late after an earlier copy.
        on conflict (account_id, id) do update set status = excluded.status, samples = excluded.samples,
          audio_ms = excluded.audio_ms, billable_ms = excluded.billable_ms, completed_at = excluded.completed_at
          where sessions.status = 'failed' and excluded.status = 'completed';
    when 'txn' then
      insert into txn select r.* from unnest(p_contents) c, jsonb_populate_record(null::txn, c::jsonb) r
        on conflict do nothing;
    when 'claim_log' then
      insert into claim_log select r.* from unnest(p_contents) c, jsonb_populate_record(null::claim_log, c::jsonb) r
        on conflict do nothing;
    when 'idempotency' then
      insert into idempotency
        select r.* from unnest(p_contents) c, jsonb_populate_record(null::idempotency, c::jsonb) r;
    when 'members' then
      -- The same id as in the other cell, unless the person already exists here.
      insert into console_users (id, email, language, created_at, first_sign_in_at, welcomed_at)
        select (c::jsonb ->> 'user_id')::uuid, r.email, r.language, r.created_at, r.first_sign_in_at, clock_timestamp()
        from unnest(p_contents) c, jsonb_populate_record(null::console_users, c::jsonb) r
        on conflict do nothing;
      insert into memberships (account_id, user_id, role, joined_at)
        select p_account, u.id, c::jsonb ->> 'role', (c::jsonb ->> 'joined_at')::timestamptz
        from unnest(p_contents) c join console_users u on u.email = c::jsonb ->> 'email';
    when 'invitations' then
      perform ensure_person(c::jsonb ->> 'email', c::jsonb ->> 'language') from unnest(p_contents) c
        where c::jsonb ->> 'status' = 'pending';
      insert into invitations
        select r.* from unnest(p_contents) c, jsonb_populate_record(null::invitations, c::jsonb) r;
    when 'audit' then
      perform import_audit(c::jsonb) from unnest(p_contents) c;
    else
      raise exception 'unknown part %', p_part using errcode = 'invalid_parameter_value';
  end case;
end
$$;

create or replace function import_audit(p_entry jsonb) returns void
language plpgsql as $$
declare
  v_entry audit_log := jsonb_populate_record(null::audit_log, p_entry);
  v_id bigint;
begin
  if exists (select from audit_log l where l.account_id = v_entry.account_id and l.at = v_entry.at
    and l.action = v_entry.action and l.target is not distinct from v_entry.target) then
    return;
  end if;
  insert into audit_log (at, account_id, login, actor_id, action, target, before, after, request_id)
    values (v_entry.at, v_entry.account_id, v_entry.login, v_entry.actor_id, v_entry.action, v_entry.target,
      v_entry.before, v_entry.after, v_entry.request_id)
    returning id into v_id;
  if p_entry ->> 'source' is not null then
    insert into audit_sources (audit_id, account_id, source, at)
      values (v_id, v_entry.account_id, p_entry ->> 'source', (p_entry ->> 'source_at')::timestamptz);
  end if;
end
$$;

-- Balances come last. At commit the deferred checks compare them with the copied ledger.
create or replace function end_import(p_account uuid, p_move uuid, p_content text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_new accounts := jsonb_populate_record(null::accounts, p_content::jsonb);
begin
  -- An account that never had credit has no transaction to compare with.
  if v_new.last_seq > 0 then
    update accounts set granted_ms = v_new.granted_ms, available_ms = v_new.available_ms,
      reserved_ms = v_new.reserved_ms, consumed_ms = v_new.consumed_ms, last_seq = v_new.last_seq
      where id = p_account and move_id = p_move and move_state = 'copying' and v_new.id = p_account;
  end if;
  update accounts set move_state = 'arriving'
    where id = p_account and move_id = p_move and move_state = 'copying' and v_new.id = p_account;
  if not found then
    raise exception 'no copy of account % has begun', p_account using errcode = 'object_not_in_prerequisite_state';
  end if;
end
$$;

-- The point of no return: the other cell now owns the account and its members.
create or replace function depart_account(p_account uuid, p_move uuid) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_account accounts;
  v_people uuid[];
begin
  select * into v_account from accounts where id = p_account for no key update;
  if v_account.move_id = p_move and v_account.move_state = 'moved' then
    return;
  end if;
  if v_account.move_id is distinct from p_move or v_account.move_state <> 'sealed' then
    raise exception 'move % of account % was cancelled', p_move, p_account
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  update accounts set move_state = 'copying' where id = p_account;
  select array_agg(user_id) into v_people from memberships where account_id = p_account;
  delete from memberships where account_id = p_account;
  delete from invitations where account_id = p_account;
  perform forget_person(person) from unnest(v_people) person;
  delete from waitlist where account_id = p_account;
  delete from audit_sources where account_id = p_account;
  update accounts set move_state = 'moved', name = 'moved', email = null where id = p_account;
end
$$;

create or replace function open_account(p_account uuid, p_move uuid) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform from accounts where id = p_account for no key update;
  update accounts set move_state = null where id = p_account and move_id = p_move and move_state = 'arriving';
  if not found and not exists (select from accounts where id = p_account and move_id = p_move) then
    raise exception 'move % of account % did not arrive', p_move, p_account
      using errcode = 'object_not_in_prerequisite_state';
  end if;
end
$$;

drop trigger if exists accounts_move_changed on accounts;
create trigger accounts_move_changed after update of move_state on accounts
  for each row when (old.move_state is distinct from new.move_state)
  execute function tell_account_keys_changed();
