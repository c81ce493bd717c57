-- Copies an account from one cell to another. The mover carries the rows; the source signs them and the target checks.

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
  union all select 'audit', to_jsonb(l) - array['id', 'imported_from', 'imported_by'] || jsonb_build_object('source', s.source, 'source_at', s.at)
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

-- The same rows as text, and at last the signature of this cell over all of them. Only for a sealed account: nothing
-- signed under one move can differ.
create or replace function export_signed(p_account uuid, p_move uuid) returns table (part text, content text)
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
  v_account accounts;
  v_chain bytea := ''::bytea;
begin
  select * into v_account from accounts where id = p_account;
  if v_account.move_id is distinct from p_move or v_account.move_state is distinct from 'sealed' then
    raise exception 'account % is not sealed for move %', p_account, p_move
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  for part, content in select e.part, e.content::text from export_account(p_account) e loop
    v_chain := chain_row(v_chain, part, content);
    return next;
  end loop;
  part := 'signature';
  content := sign_move(v_account.move_cell, move_statement(
    'export ' || encode(v_chain, 'hex'), (select id from cell), v_account.move_cell, p_account, p_move));
  return next;
end
$$;

-- Inside one transaction of the target: begin, rows in batches, end. An earlier copy is completed:
-- its ledger is a prefix of the same history, and all mutable rows are replaced.
create or replace function begin_import(p_move uuid, p_from text, p_content text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_new accounts := jsonb_populate_record(null::accounts, p_content::jsonb);
  -- A cell of an older version has no limit of its own.
  v_key_limit smallint := coalesce(v_new.key_limit, 10);
  v_known accounts;
begin
  if exists (select from account_arrivals where move_id = p_move) then
    raise exception 'move % has arrived before', p_move using errcode = 'object_not_in_prerequisite_state';
  end if;
  insert into accounts (id, name, email, status, concurrency_limit, key_limit, limit_changed_at, allowed_origins, created_at,
      move_state, move_id, move_cell)
    values (v_new.id, v_new.name, v_new.email, v_new.status, v_new.concurrency_limit, v_key_limit,
      v_new.limit_changed_at, v_new.allowed_origins, v_new.created_at, 'copying', p_move, p_from)
    on conflict do nothing;
  select * into v_known from accounts where id = v_new.id for update;
  if v_known.move_state in ('moved', 'arriving') then
    update accounts set move_state = 'copying', move_id = p_move, move_cell = p_from, name = v_new.name,
      email = v_new.email, status = v_new.status, concurrency_limit = v_new.concurrency_limit,
      key_limit = v_key_limit, limit_changed_at = v_new.limit_changed_at, allowed_origins = v_new.allowed_origins
      where id = v_new.id;
  elsif v_known.move_state is distinct from 'copying' then
    raise exception 'account % is already in this cell', v_new.id using errcode = 'object_not_in_prerequisite_state';
  end if;
  insert into account_imports (account_id, move_id, from_cell, chain, content)
    values (v_new.id, p_move, p_from, chain_row(''::bytea, 'account', p_content), p_content::jsonb);
  delete from api_keys where account_id = v_new.id;
  delete from memberships where account_id = v_new.id;
  delete from invitations where account_id = v_new.id;
  delete from idempotency where account_id = v_new.id;
end
$$;

create or replace function import_rows(p_account uuid, p_move uuid, p_part text, p_contents text[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_import account_imports;
  v_content text;
begin
  select * into v_import from account_imports where account_id = p_account and move_id = p_move;
  if not found or not is_copying(p_account) then
    raise exception 'no copy of account % has begun', p_account using errcode = 'object_not_in_prerequisite_state';
  end if;
  foreach v_content in array p_contents loop
    v_import.chain := chain_row(v_import.chain, p_part, v_content);
  end loop;
  update account_imports set chain = v_import.chain where account_id = p_account;
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
      perform import_audit(c::jsonb, v_import.from_cell) from unnest(p_contents) c;
    else
      raise exception 'unknown part %', p_part using errcode = 'invalid_parameter_value';
  end case;
end
$$;

-- The entry keeps the login that the other cell recorded, and names that cell and the login that imports it.
create or replace function import_audit(p_entry jsonb, p_from text) returns void
language plpgsql as $$
declare
  v_entry audit_log := jsonb_populate_record(null::audit_log, p_entry);
  v_id bigint;
begin
  if exists (select from audit_log l where l.account_id = v_entry.account_id and l.at = v_entry.at
    and l.action = v_entry.action and l.target is not distinct from v_entry.target) then
    return;
  end if;
  insert into audit_log (at, account_id, login, actor_id, action, target, before, after, request_id, imported_from,
      imported_by)
    values (v_entry.at, v_entry.account_id, v_entry.login, v_entry.actor_id, v_entry.action, v_entry.target,
      v_entry.before, v_entry.after, v_entry.request_id, p_from, session_user)
    returning id into v_id;
  if p_entry ->> 'source' is not null then
    insert into audit_sources (audit_id, account_id, source, at)
      values (v_id, v_entry.account_id, p_entry ->> 'source', (p_entry ->> 'source_at')::timestamptz);
  end if;
end
$$;

-- Balances come last. At commit the deferred checks compare them with the copied ledger. Without the signature of the
-- source over exactly these rows, nothing of the copy stays.
create or replace function finish_import(p_account uuid, p_move uuid, p_signature text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_import account_imports;
  v_new accounts;
begin
  delete from account_imports where account_id = p_account and move_id = p_move returning * into v_import;
  if not found or not is_copying(p_account) then
    raise exception 'no copy of account % has begun', p_account using errcode = 'object_not_in_prerequisite_state';
  end if;
  perform require_signature(v_import.from_cell, p_signature, move_statement(
    'export ' || encode(v_import.chain, 'hex'), v_import.from_cell, (select id from cell), p_account, p_move));
  v_new := jsonb_populate_record(null::accounts, v_import.content);
  if v_new.last_seq < (select coalesce(max(seq), 0) from txn where account_id = p_account) then
    raise exception 'this cell knows more of the history of account % than the copy', p_account
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  -- An account that never had credit has no transaction to compare with.
  if v_new.last_seq > 0 then
    update accounts set granted_ms = v_new.granted_ms, available_ms = v_new.available_ms,
      reserved_ms = v_new.reserved_ms, consumed_ms = v_new.consumed_ms, last_seq = v_new.last_seq
      where id = p_account;
  end if;
  update accounts set move_state = 'arriving' where id = p_account;
  perform write_audit(p_account, 'account.imported', p_move::text, null, jsonb_build_object(
    'from', v_import.from_cell, 'available_ms', v_new.available_ms, 'last_seq', v_new.last_seq));
end
$$;
