import { LIMITS, type ModelId } from '@svc-asr/protocol/constants.ts';
import type { Queryable } from '../platform/db.ts';
import { nullable, number, queryRows, statement, text, timestamp } from '../platform/statement.ts';
import type { Balance, SessionStatus } from './types.ts';

/**
 * One statement, so that figures and sessions are consistent. An overdue reservation counts as expired
 * before the sweeper closes it. An active session shows the audio last reported by its node, and its charge so far. The newest
 * sessions are found through the account's newest transactions.
 */
const BALANCE = statement(
  `
  with clock as materialized (select clock_timestamp() as now),
  overdue as (
    select coalesce(sum(s.reserved_ms), 0)::bigint as ms from sessions s, clock
    where s.account_id = $1 and s.slot is not null and s.status = 'reserved' and s.expires_at <= clock.now
  ),
  recent as (
    select t.seq, s.id, s.model, s.reserved_ms, s.created_at, s.expires_at,
      case when l.node_id is null then s.audio_ms else (live.samples + 15) / 16 end::integer as audio_ms,
      case when l.node_id is null then s.billable_ms
        else least(s.reserved_ms, (live.samples + 15999) / 16000 * 1000) end::integer as billable_ms,
      case when lapsed then 'expired' else s.status end as status,
      case when lapsed then s.expires_at else s.completed_at end as completed_at
    from clock,
      (select seq, session_id from txn where account_id = $1 and kind = 'reserve' order by seq desc limit $2) t
      join sessions s on s.account_id = $1 and s.id = t.session_id
      left join live_audio l
        on s.status = 'active' and l.node_id = s.node_id and l.node_epoch = s.node_epoch,
      lateral (select s.status = 'reserved' and s.expires_at <= clock.now as lapsed) overdue_session,
      lateral (select coalesce(l.samples[array_position(l.session_ids, s.id)], 0) as samples) live
  )
  select a.available_ms + overdue.ms as available_ms, a.reserved_ms - overdue.ms as reserved_ms, a.consumed_ms,
    recent.id, recent.model, recent.status, recent.reserved_ms as session_reserved_ms,
    recent.audio_ms, recent.billable_ms, recent.created_at, recent.expires_at, recent.completed_at
  from accounts a cross join overdue left join recent on true
  where a.id = $1
  order by recent.seq desc`,
  {
    available_ms: number(),
    reserved_ms: number(),
    consumed_ms: number(),
    // Null for an account without sessions, like every column below it.
    id: nullable(text()),
    model: text<ModelId>(),
    status: text<SessionStatus>(),
    session_reserved_ms: number(),
    audio_ms: number(),
    billable_ms: number(),
    created_at: timestamp(),
    expires_at: timestamp(),
    completed_at: nullable(timestamp()),
  },
  { name: 'balance' },
);

/** Returns null if there is no such account. */
export async function balance(db: Queryable, accountId: string): Promise<Balance | null> {
  const rows = await queryRows(db, BALANCE, [accountId, LIMITS.recentSessions]);
  const first = rows[0];
  if (first === undefined) return null;
  return {
    availableMs: first.available_ms,
    reservedMs: first.reserved_ms,
    consumedMs: first.consumed_ms,
    recentSessions: rows.flatMap((row) =>
      row.id === null
        ? []
        : [
            {
              id: row.id,
              model: row.model,
              status: row.status,
              reservedMs: row.session_reserved_ms,
              audioMs: row.audio_ms,
              billableMs: row.billable_ms,
              createdAt: row.created_at,
              expiresAt: row.expires_at,
              completedAt: row.completed_at,
            },
          ],
    ),
  };
}
