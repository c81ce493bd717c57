-- What operators change on the console. The console passes the session token on, so its database role can't act in the
-- name of an operator. Every reason becomes part of the audit entries.

-- Returns the operator of a session. A problem unless they used a passkey within the last five minutes.
create or replace function confirmed_operator(
  p_token text, out o_id uuid, out o_email text, out o_problem text
)
language plpgsql stable as $$
declare
  v_confirmed timestamptz;
begin
  select u.id, u.email, s.confirmed_at into o_id, o_email, v_confirmed
    from live_console_session(p_token) s join console_users u on u.id = s.user_id
    where u.is_operator and s.verified_by = 'passkey';
  o_problem := case
    when o_email is null then 'not_found'
    when v_confirmed is null or v_confirmed < clock_timestamp() - interval '5 minutes'
      then 'confirm_first'
  end;
end
$$;

-- An erased account, and one that another cell serves or takes over, can't be changed here.
create or replace function is_operable(p_account uuid) returns boolean
language sql stable as $$
  select exists (
    select from accounts
    where id = p_account and move_state is null and not (name = 'erased' and email is null))
$$;

-- Returns the operator of a session who may change this account now, or a problem. The audit entries of this transaction
-- get the reason.
drop function if exists operator_changing(uuid, text, text);
create function operator_changing(
  p_account uuid, p_token text, p_reason text, out o_id uuid, out o_email text, out o_problem text
)
language plpgsql as $$
begin
  select * into o_id, o_email, o_problem from confirmed_operator(p_token);
  if o_problem is null and not is_operable(p_account) then
    o_problem := 'not_found';
  end if;
  perform set_config('svc.reason', p_reason, true);
end
$$;

-- Whether a grant would exceed 10 hours, or the 100 hours a day of the operator. Serialised per operator, so that
-- concurrent grants count.
create or replace function exceeds_grant_limit(p_operator uuid, p_ms bigint) returns boolean
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(p_operator::text, 4));
  return p_ms > 36000000 or p_ms + (
    select coalesce(sum(ms), 0) from operator_grants
    where operator_id = p_operator and granted_at > clock_timestamp() - interval '1 day'
  ) > 360000000;
end
$$;

-- Posts credit within the operator's limits. The same request is posted once.
create or replace function grant_within_limit(
  p_operator uuid, p_actor text, p_account uuid, p_ms bigint, p_reason text, p_request uuid
) returns text
language plpgsql as $$
begin
  if exists (select from operator_grants where id = p_request and account_id = p_account) then
    return 'granted';
  end if;
  if exceeds_grant_limit(p_operator, p_ms) then
    return 'credit_limit_reached';
  end if;
  if (select outcome from grant_credit(p_account, p_ms, p_reason, p_actor, p_request)) is distinct from 'posted' then
    return 'not_found';
  end if;
  insert into operator_grants (id, operator_id, account_id, ms) values (p_request, p_operator, p_account, p_ms)
    on conflict do nothing;
  return 'granted';
end
$$;

-- Approves a waitlist entry, atomically. Approving twice grants once.
create or replace function approve_as_operator(
  p_token text, p_entry uuid, p_account uuid, p_ms bigint, p_reason text
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
  perform set_config('svc.reason', p_reason, true);
  -- Before the lock on the entry, so that two approvals of one operator can't wait for each other.
  if exceeds_grant_limit(v_operator.o_id, p_ms) then
    select status into v_status from waitlist where id = p_entry;
    return case when v_status = 'approved' then 'approved' else 'credit_limit_reached' end;
  end if;
  select status into v_status from waitlist where id = p_entry for update;
  if v_status = 'approved' then
    return 'approved';
  end if;
  v_account := approve_waitlist(p_entry, p_account, v_operator.o_email);
  if v_account is null then
    return 'not_found';
  end if;
  -- The entry's id identifies the grant.
  perform grant_within_limit(v_operator.o_id, v_operator.o_email, v_account, p_ms,
    'first credit after the waitlist', p_entry);
  update waitlist set granted_ms = p_ms, decision_reason = nullif(p_reason, '') where id = p_entry;
  return 'approved';
end
$$;

create or replace function decline_as_operator(p_token text, p_entry uuid, p_reason text) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_operator record;
begin
  select * into v_operator from confirmed_operator(p_token);
  if v_operator.o_email is null then
    return 'not_found';
  end if;
  return case when decline_waitlist(p_entry, v_operator.o_email, p_reason) then 'declined' else 'not_found' end;
end
$$;

create or replace function set_account_status_as_operator(
  p_token text, p_account uuid, p_status account_status, p_reason text
) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_operator record;
begin
  select * into v_operator from operator_changing(p_account, p_token, p_reason);
  if v_operator.o_problem is not null then
    return v_operator.o_problem;
  end if;
  update accounts set status = p_status where id = p_account;
  return 'done';
end
$$;

create or replace function set_concurrency_as_operator(
  p_token text, p_account uuid, p_limit integer, p_reason text
) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_operator record;
begin
  select * into v_operator from operator_changing(p_account, p_token, p_reason);
  if v_operator.o_problem is not null then
    return v_operator.o_problem;
  end if;
  perform set_concurrency(p_account, p_limit);
  return 'done';
end
$$;

create or replace function grant_as_operator(
  p_token text, p_account uuid, p_ms bigint, p_reason text, p_request uuid
) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_operator record;
  v_outcome text;
begin
  select * into v_operator from operator_changing(p_account, p_token, p_reason);
  if v_operator.o_problem is not null then
    return v_operator.o_problem;
  end if;
  v_outcome := grant_within_limit(v_operator.o_id, v_operator.o_email, p_account, p_ms, p_reason, p_request);
  return case when v_outcome = 'granted' then 'done' else v_outcome end;
end
$$;

-- Decides about a request for credit. Without an amount it is declined. The second decision is refused.
create or replace function decide_credit_request_as_operator(
  p_token text, p_request uuid, p_ms bigint, p_reply text
) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_operator record;
  v_account uuid;
  v_outcome text;
begin
  select * into v_operator from confirmed_operator(p_token);
  if v_operator.o_problem is not null then
    return v_operator.o_problem;
  end if;
  -- The order of every grant: the operator's lock, the request, the account.
  perform exceeds_grant_limit(v_operator.o_id, 0);
  v_account := lock_credit_request(p_request, p_reply);
  if v_account is null then
    return 'not_found';
  end if;
  if p_ms is not null then
    v_outcome := grant_within_limit(v_operator.o_id, v_operator.o_email, v_account, p_ms, p_reply, p_request);
    if v_outcome <> 'granted' then
      return v_outcome;
    end if;
  end if;
  perform close_credit_request(p_request, p_ms, p_reply);
  return 'done';
end
$$;
