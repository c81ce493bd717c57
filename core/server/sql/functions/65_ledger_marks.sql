-- Compares the history acknowledged to a process with this database, and advances the process's mark.
--
-- The mark covers everything up to the last check. `p_session` is the last session that was
-- acknowledged to the process since then (`p_is_over`: as ended; `p_upgrade`: as claimed by that
-- upgrade; both: as given back by it), so not even a second of lost history goes unnoticed. A process without acknowledged history
-- (position 0) accepts any database. A mark higher than the process knows is its own, whose response
-- was lost.
create or replace function mark_ledger(
  p_process uuid,
  p_node text,
  p_position bigint,
  p_account uuid,
  p_session uuid,
  p_is_over boolean,
  p_upgrade uuid,
  out outcome text,
  out marked bigint
)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_mark ledger_marks;
  v_is_known boolean;
begin
  select * into v_mark from ledger_marks where process_id = p_process for update;
  v_is_known := (p_position = 0 or coalesce(v_mark.position >= p_position, false))
    and (p_session is null or exists (
      select from sessions s
      where s.account_id = p_account and s.id = p_session and case
        when p_is_over then s.slot is null or is_given_back(p_account, p_session, p_upgrade)
        when p_upgrade is null then true
        else s.upgrade_id = p_upgrade or is_given_back(p_account, p_session, p_upgrade)
      end));
  if not v_is_known and v_mark.accepted_at is null then
    outcome := 'rolled_back';
    insert into ledger_marks as m (process_id, node_id, position, marked_at, refused_at)
      values (p_process, p_node, 0, clock_timestamp(), clock_timestamp())
      on conflict (process_id) do update set refused_at = coalesce(m.refused_at, excluded.refused_at);
    return;
  end if;
  outcome := case when v_is_known then 'known' else 'accepted' end;
  insert into ledger_marks as m (process_id, node_id, position, marked_at)
    values (p_process, p_node, greatest(p_position, 0) + 1, clock_timestamp())
    on conflict (process_id) do update set
      position = greatest(m.position, excluded.position - 1) + 1,
      marked_at = excluded.marked_at,
      refused_at = null,
      accepted_at = null
    returning position into marked;
  if p_position = 0 then
    -- Far longer than a process can run usefully without its database.
    delete from ledger_marks where marked_at < clock_timestamp() - interval '30 days';
  end if;
end
$$;

-- Records that an operator accepts the loss of history. Every process that refuses this database
-- then uses it. Returns their number.
create or replace function accept_ledger_history(p_reason text) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_accepted integer;
begin
  update ledger_marks set accepted_at = clock_timestamp()
    where refused_at is not null and accepted_at is null;
  get diagnostics v_accepted = row_count;
  perform write_audit(null, 'ledger.history_accepted', null, null,
    jsonb_build_object('processes', v_accepted, 'reason', left(p_reason, 500)));
  return v_accepted;
end
$$;
