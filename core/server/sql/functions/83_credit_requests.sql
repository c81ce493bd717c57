-- Asks the operators for credit: one open request per account, and three a day.
create or replace function request_credit(
  p_id uuid, p_account uuid, p_user uuid, p_ms bigint, p_message text
) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_now timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended(p_account::text, 6));
  v_now := clock_timestamp();
  if exists (select from credit_requests where account_id = p_account and status = 'open') then
    return 'credit_request_open';
  end if;
  if (select count(*) from credit_requests
    where account_id = p_account and requested_at > v_now - interval '1 day') >= 3 then
    return 'credit_request_limit_reached';
  end if;
  insert into credit_requests (id, account_id, requested_by, requested_at, requested_ms, message)
    values (p_id, p_account, p_user, v_now, p_ms, p_message);
  perform write_audit(p_account, 'credit_request.created', p_id::text, null,
    jsonb_build_object('requested_ms', p_ms));
  -- Unsent for this long only without a mail server.
  delete from credit_request_notices where created_at < v_now - interval '30 days';
  insert into credit_request_notices (request_id, recipient, kind)
    select p_id, id, 'asked' from console_users where is_operator;
  return 'requested';
end
$$;

-- Locks an open request and returns its account. Null: none is open under this id. The audit entries of this transaction
-- get the reply.
create or replace function lock_credit_request(p_request uuid, p_reply text) returns uuid
language plpgsql as $$
declare
  v_request credit_requests;
begin
  select * into v_request from credit_requests where id = p_request for update;
  if v_request.status is distinct from 'open' or not is_operable(v_request.account_id) then
    return null;
  end if;
  perform set_config('svc.reason', p_reply, true);
  return v_request.account_id;
end
$$;

-- Records the decision about a locked request. The owners of the account get an email.
create or replace function close_credit_request(p_request uuid, p_ms bigint, p_reply text) returns void
language plpgsql as $$
declare
  v_status text := case when p_ms is null then 'declined' else 'granted' end;
  v_account uuid;
begin
  update credit_requests
    set status = v_status, decided_at = clock_timestamp(), granted_ms = p_ms, reply = p_reply
    where id = p_request returning account_id into v_account;
  perform write_audit(v_account, 'credit_request.' || v_status, p_request::text, null,
    jsonb_build_object('reason', p_reply));
  insert into credit_request_notices (request_id, recipient, kind)
    select p_request, user_id, v_status from memberships where account_id = v_account and role = 'owner';
end
$$;

-- The decision of svc-admin: as on the console, without the limits of an operator's grants. Returns the account's available
-- credit, or null if no request is open under this id.
create or replace function decide_credit_request(p_request uuid, p_ms bigint, p_reply text, p_actor text) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_account uuid := lock_credit_request(p_request, p_reply);
begin
  if v_account is null then
    return null;
  end if;
  if p_ms is not null
    and (select outcome from grant_credit(v_account, p_ms, p_reply, p_actor, p_request)) is distinct from 'posted' then
    return null;
  end if;
  perform close_credit_request(p_request, p_ms, p_reply);
  return (select available_ms from accounts where id = v_account);
end
$$;
