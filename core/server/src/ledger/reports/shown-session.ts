/**
 * SQL for a session `s` as its customer sees it at the time `now`. An overdue reservation counts as expired before the
 * sweeper closes it. A live session shows the audio last reported by its node. Its charge is 0 until it has completed.
 */
export function shownSession(now: string): { readonly fields: string; readonly joins: string } {
  return {
    fields: `s.id, s.model, s.reserved_ms, s.billable_ms, s.created_at, s.expires_at, seen.status,
      case when l.node_id is null then s.audio_ms else (live.samples + 15) / 16 end::integer as audio_ms,
      case when overdue.is_overdue then s.expires_at else s.completed_at end as completed_at`,
    joins: `left join live_audio l
        on s.status = 'active' and l.node_id = s.node_id and l.node_epoch = s.node_epoch,
      lateral (select coalesce(l.samples[array_position(l.session_ids, s.id)], 0) as samples) live,
      lateral (select s.status = 'reserved' and s.expires_at <= ${now} as is_overdue) overdue,
      lateral (select case when overdue.is_overdue then 'expired' else s.status::text end as status) seen`,
  };
}
