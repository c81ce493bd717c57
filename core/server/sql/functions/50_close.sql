-- Of an earlier version. Calls with fewer arguments get the function below.
drop function if exists close_session(uuid, uuid, text, bigint, text, bigint, uuid);

-- Settles a session once. Returns 'already' if it was closed before, 'superseded' if another upgrade
-- has it, 'settled_late' if the sweeper had failed it although its node was alive.
--
-- Its own refusals have SQLSTATEs of class SV. They are permanent. Every other error may heal, so the
-- caller repeats the settlement.
create or replace function close_session(
  p_account uuid,
  p_session uuid,
  p_status text,
  p_samples bigint,
  p_node text,
  p_epoch bigint,
  p_upgrade uuid,
  p_lost uuid default null,
  p_replayed bigint default 0,
  p_lengths bigint[] default null,
  p_digests text[] default null,
  p_told boolean default true
) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_session sessions;
  v_account record;
  v_samples bigint;
begin
  select available_ms, move_state into v_account from accounts where id = p_account for no key update;
  select * into v_session from sessions where account_id = p_account and id = p_session for update;
  if not found then
    raise exception 'session % does not exist', p_session using errcode = 'SVC01';
  end if;
  -- At most the reservation is charged, whatever a node reports.
  v_samples := case when v_session.claimed_at is not null
    then least(p_samples, v_session.reserved_ms::bigint * 16) else 0 end;
  if p_lost is not null and p_status = 'completed' then
    v_session.replayed_samples := charged_before(v_session, p_lost, p_replayed, v_samples);
    v_session.continues := case when v_session.replayed_samples is not null then p_lost end;
  end if;
  if v_session.completed_at is not null then
    -- The client was told that its session completed, so it stays true. A client that lost its connection was told nothing, and
    -- may have sent the audio to another session, which was charged for it. An account that is leaving this cell has been copied.
    if v_session.status = 'failed' and p_status = 'completed' and p_told
      and (v_session.node_id, v_session.node_epoch) = (p_node, p_epoch)
      and v_session.swept_at + late_close_window() >= clock_timestamp()
      and coalesce(v_account.move_state, 'moving') = 'moving' then
      perform settle_late(v_session, v_samples, v_account.available_ms, clock_timestamp());
      perform keep_lost_audio(v_session, p_lengths, p_digests);
      return 'settled_late';
    end if;
    return 'already';
  end if;
  -- Readers have seen this session as expired since its expiry, so it stays expired.
  if v_session.status = 'reserved' and v_session.expires_at <= clock_timestamp() then
    perform end_session(v_session, 'expired', 0, v_session.expires_at);
    return 'already';
  end if;
  if p_status not in ('completed', 'failed') then
    raise exception 'a session is closed as completed or failed'
      using errcode = 'SVC02';
  end if;
  -- A process of an earlier version closes a session if it cannot learn whether its claim went through.
  -- By then another upgrade may have claimed it, and its stream goes on.
  if v_session.status = 'active' and p_status = 'failed' and v_session.upgrade_id <> p_upgrade then
    return 'superseded';
  end if;
  if v_session.status = 'active'
    and (v_session.node_id, v_session.node_epoch) is distinct from (p_node, p_epoch) then
    raise exception 'session % belongs to another node', p_session
      using errcode = 'SVC03';
  end if;
  if v_session.status = 'reserved' then
    raise exception 'session % was never claimed', p_session
      using errcode = 'SVC04';
  end if;
  perform end_session(v_session, p_status::session_status, v_samples, clock_timestamp());
  if p_status = 'completed' then
    perform keep_lost_audio(v_session, p_lengths, p_digests);
  end if;
  return 'closed';
end
$$;
