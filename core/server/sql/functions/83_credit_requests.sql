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
