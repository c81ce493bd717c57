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
create or replace function refuse_during_move() returns trigger
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
create or replace trigger accounts_locked_during_move before update on accounts
  for each row when (old.move_state in ('sealed', 'moved', 'arriving')
    and new.move_state is not distinct from old.move_state)
  execute function refuse_change('the account is between two cells');
create or replace trigger api_keys_locked_during_move
  before insert or delete or update of account_id, name, scopes, live_number, expires_at, revoked_at on api_keys
  for each row execute function refuse_during_move();
create or replace trigger memberships_locked_during_move before insert or update or delete on memberships
  for each row execute function refuse_during_move();
create or replace trigger invitations_locked_during_move before insert on invitations
  for each row execute function refuse_during_move();
-- Invitations expire in bulk, for all accounts at once.
create or replace trigger invitations_answer_locked_during_move before update of status on invitations
  for each row when (new.status <> 'expired') execute function refuse_during_move();

-- Returns the id of the move. An unfinished move to the same cell keeps its id. The database chooses it, so that no two
-- moves share one and everything signed under an id describes the same sealed account.
create or replace function freeze_account(p_account uuid, p_to text) returns uuid
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_account accounts;
  v_move uuid := gen_random_uuid();
begin
  select * into v_account from accounts where id = p_account for no key update;
  if v_account.move_state in ('moving', 'sealed') and v_account.move_cell = p_to then
    return v_account.move_id;
  end if;
  if v_account.id is null or v_account.move_state is not null then
    raise exception 'account % is not in this cell', p_account using errcode = 'object_not_in_prerequisite_state';
  end if;
  update accounts set move_state = 'moving', move_id = v_move, move_cell = p_to where id = p_account;
  return v_move;
end
$$;

-- Returns the number of live sessions. If there are none, seals the account.
create or replace function seal_account(p_account uuid, p_move uuid) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_account accounts;
  v_expired sessions;
  v_live integer;
begin
  select * into v_account from accounts where id = p_account for no key update;
  if v_account.move_id is distinct from p_move or v_account.move_state not in ('moving', 'sealed') then
    raise exception 'move % of account % was cancelled', p_move, p_account
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  for v_expired in
    select * from sessions where account_id = p_account and slot is not null and status = 'reserved'
      and expires_at <= clock_timestamp() for update
  loop
    perform end_session(v_expired, 'expired', 0, v_expired.expires_at);
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

-- The point of no return: the other cell now owns the account and its members. It signed that it has them.
create or replace function depart_account(p_account uuid, p_move uuid, p_receipt text) returns void
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
  perform require_signature(v_account.move_cell, p_receipt,
    move_statement('arrived', (select id from cell), v_account.move_cell, p_account, p_move));
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

-- Serves the account, once the other cell has signed that it no longer does.
create or replace function open_account(p_account uuid, p_move uuid, p_receipt text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_account accounts;
begin
  select * into v_account from accounts where id = p_account for no key update;
  if v_account.move_id is distinct from p_move then
    raise exception 'move % of account % did not arrive', p_move, p_account
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  if v_account.move_state is distinct from 'arriving' then
    return;
  end if;
  perform require_signature(v_account.move_cell, p_receipt,
    move_statement('departed', v_account.move_cell, (select id from cell), p_account, p_move));
  insert into account_arrivals (move_id, account_id, from_cell) values (p_move, p_account, v_account.move_cell);
  update accounts set move_state = null where id = p_account;
end
$$;

-- A copy is complete or absent: no transaction ends in the middle of one.
create or replace function check_not_copying() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if is_copying(new.id) then
    raise exception 'the copy of account % is not complete', new.id using errcode = 'object_not_in_prerequisite_state';
  end if;
  return null;
end
$$;
drop trigger if exists accounts_copy_complete on accounts;
create constraint trigger accounts_copy_complete after insert or update of move_state on accounts
  deferrable initially deferred for each row when (new.move_state = 'copying') execute function check_not_copying();

create or replace trigger accounts_move_changed after update of move_state on accounts
  for each row when (old.move_state is distinct from new.move_state)
  execute function notify_account_keys_changed();
