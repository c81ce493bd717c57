-- The only writer of balances and transactions. The caller holds the account's row lock and has
-- fixed the search path.
create or replace function post(
  p_account uuid,
  p_kind txn_kind,
  p_session uuid,
  p_at timestamptz,
  p_available bigint,
  p_reserved bigint,
  p_consumed bigint,
  p_request uuid default null,
  p_actor text default null,
  p_reason text default null,
  out o_seq bigint,
  out o_available_ms bigint
)
language plpgsql as $$
declare
  v_reserved bigint;
  v_consumed bigint;
  -- Credit that enters or leaves the account. Moves between its buckets cancel out.
  v_granted bigint := p_available + p_reserved + p_consumed;
begin
  update accounts set
    granted_ms = granted_ms + v_granted,
    available_ms = available_ms + p_available,
    reserved_ms = reserved_ms + p_reserved,
    consumed_ms = consumed_ms + p_consumed,
    last_seq = last_seq + 1
    where id = p_account
    returning last_seq, available_ms, reserved_ms, consumed_ms
    into o_seq, o_available_ms, v_reserved, v_consumed;
  insert into txn (account_id, seq, kind, session_id, request_id, actor, reason,
    granted_ms, available_ms, reserved_ms, consumed_ms,
    available_after_ms, reserved_after_ms, consumed_after_ms, created_at)
    values (p_account, o_seq, p_kind, p_session, p_request, p_actor, p_reason,
      -v_granted, p_available, p_reserved, p_consumed,
      o_available_ms, v_reserved, v_consumed, p_at);
end
$$;

-- The audio of a session in whole seconds, without what the session before it was charged for.
create or replace function unpaid_ms(p_session sessions, p_samples bigint) returns bigint
language sql immutable as $$
  select (p_samples - coalesce(p_session.replayed_samples, 0) + 15999) / 16000 * 1000
$$;

-- Ends a session and moves its credit. The caller has locked the account and the session.
create or replace function end_session(
  p_session sessions,
  p_status session_status,
  p_samples bigint,
  p_at timestamptz
) returns void
language plpgsql as $$
declare
  v_billable integer := 0;
begin
  if p_status = 'completed' then
    v_billable := least(p_session.reserved_ms, unpaid_ms(p_session, p_samples));
  end if;
  update sessions set
    status = p_status,
    slot = null,
    samples = p_samples,
    audio_ms = (p_samples + 15) / 16,
    billable_ms = v_billable,
    completed_at = p_at,
    swept_at = p_session.swept_at,
    continues = p_session.continues,
    replayed_samples = p_session.replayed_samples
    where account_id = p_session.account_id and id = p_session.id;
  perform post(
    p_session.account_id,
    (case p_status when 'completed' then 'complete' when 'failed' then 'fail' else 'expire' end)::txn_kind,
    p_session.id,
    p_at,
    p_available => p_session.reserved_ms - v_billable,
    p_reserved => -p_session.reserved_ms,
    p_consumed => v_billable);
end
$$;

-- Charges a session that the sweeper failed, although its node was alive. Its reservation was returned,
-- so at most the whole seconds still available are charged. The caller has locked the account and the
-- session.
create or replace function settle_late(
  p_session sessions,
  p_samples bigint,
  p_available bigint,
  p_at timestamptz
) returns void
language plpgsql as $$
declare
  v_billable integer := least(
    p_session.reserved_ms, unpaid_ms(p_session, p_samples), p_available / 1000 * 1000);
begin
  update sessions set
    status = 'completed',
    samples = p_samples,
    audio_ms = (p_samples + 15) / 16,
    billable_ms = v_billable,
    continues = p_session.continues,
    replayed_samples = p_session.replayed_samples,
    -- After the sweep, even if the clock was set back since.
    completed_at = greatest(p_at, p_session.swept_at)
    where account_id = p_session.account_id and id = p_session.id;
  perform post(
    p_session.account_id,
    'settle_late',
    p_session.id,
    p_at,
    p_available => -v_billable,
    p_reserved => 0,
    p_consumed => v_billable);
end
$$;
