-- Stores what a node reports about streams that have ended. Only the upgrade that claimed a session can describe it.
-- Nothing here locks an account or moves credit.
create or replace function record_streams(p_node text, p_streams jsonb) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_recorded integer;
begin
  insert into session_details (account_id, session_id, request_id, origin, client, ready_ms, first_words_ms,
      first_final_ms, last_final_ms, ended_ms, finals, close_code, close_reason, delta_lag_p50_ms, delta_lag_p95_ms,
      gaps, longest_gap_ms, hints, audio_hint)
    select s.account_id, s.id, s.upgrade_id, r.origin, r.client, r.ready_ms, r.first_words_ms,
      r.first_final_ms, r.last_final_ms, r.ended_ms, r.finals, r.close_code, r.close_reason, r.delta_lag_p50_ms,
      r.delta_lag_p95_ms, r.gaps, r.longest_gap_ms, r.hints, r.audio_hint
    from jsonb_populate_recordset(null::session_details, p_streams) r
      join sessions s on s.account_id = r.account_id and s.id = r.session_id
    where s.node_id = p_node and s.upgrade_id = r.request_id
    on conflict do nothing;
  get diagnostics v_recorded = row_count;
  return v_recorded;
end
$$;

-- Deletes details that are older than 30 days.
create or replace function forget_session_details(p_batch integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_forgotten integer;
begin
  delete from session_details where (account_id, session_id) in (
    select account_id, session_id from session_details
      where recorded_at < clock_timestamp() - interval '30 days'
      order by recorded_at limit p_batch for update skip locked);
  get diagnostics v_forgotten = row_count;
  return v_forgotten;
end
$$;

-- The number from which on all reservations of an account are at or after a time. Reservations are numbered and dated
-- under the account's lock, so a binary search finds it without an index on the time.
create or replace function first_reservation_at(p_account uuid, p_at timestamptz) returns bigint
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
  v_low bigint := 1;
  v_high bigint;
  v_middle bigint;
  v_found record;
begin
  select last_seq + 1 into v_high from accounts where id = p_account;
  while v_low < v_high loop
    v_middle := (v_low + v_high) / 2;
    select seq, created_at into v_found from txn
      where account_id = p_account and seq >= v_middle and seq < v_high and kind = 'reserve' order by seq limit 1;
    if found and v_found.created_at < p_at then
      v_low := v_found.seq + 1;
    else
      v_high := v_middle;
    end if;
  end loop;
  return v_high;
end
$$;
