import { LIMITS, type ModelId } from '@svc-asr/protocol';
import type { Queryable } from '../db.ts';
import type { Balance, SessionStatus } from './ledger.ts';

interface BalanceRow {
  readonly available_ms: number;
  readonly reserved_ms: number;
  readonly consumed_ms: number;
  readonly id: string | null;
  readonly model: ModelId;
  readonly status: SessionStatus;
  readonly session_reserved_ms: number;
  readonly audio_ms: number;
  readonly billable_ms: number;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly completed_at: Date | null;
}

/**
 * One statement, so that the figures and the sessions are of one moment. What is overdue counts as
 * expired here before anybody has written it down. The account's transactions, newest first, are
 * the index to its newest sessions.
 */
const BALANCE = `
  with clock as materialized (select clock_timestamp() as now),
  overdue as (
    select coalesce(sum(s.reserved_ms), 0)::bigint as ms from sessions s, clock
    where s.account_id = $1 and s.slot is not null and s.status = 'reserved' and s.expires_at <= clock.now
  ),
  recent as (
    select t.seq, s.id, s.model, s.reserved_ms, s.audio_ms, s.billable_ms, s.created_at, s.expires_at,
      case when lapsed then 'expired' else s.status end as status,
      case when lapsed then s.expires_at else s.completed_at end as completed_at
    from clock,
      (select seq, session_id from txn where account_id = $1 and kind = 'reserve' order by seq desc limit $2) t
      join sessions s on s.account_id = $1 and s.id = t.session_id,
      lateral (select s.status = 'reserved' and s.expires_at <= clock.now as lapsed) l
  )
  select a.available_ms + overdue.ms as available_ms, a.reserved_ms - overdue.ms as reserved_ms, a.consumed_ms,
    recent.id, recent.model, recent.status, recent.reserved_ms as session_reserved_ms,
    recent.audio_ms, recent.billable_ms, recent.created_at, recent.expires_at, recent.completed_at
  from accounts a cross join overdue left join recent on true
  where a.id = $1
  order by recent.seq desc`;

/** Null: there is no such account. */
export async function balance(db: Queryable, accountId: string): Promise<Balance | null> {
  const { rows } = await db.query<BalanceRow>({
    name: 'balance',
    text: BALANCE,
    values: [accountId, LIMITS.recentSessions],
  });
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
