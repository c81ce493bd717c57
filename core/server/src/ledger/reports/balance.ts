import { LIMITS, type ModelId } from '@svc-asr/protocol/constants.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t } from '../../platform/database/statement.ts';
import { shownSession } from './shown-session.ts';
import type { Balance, SessionStatus } from '../types.ts';

const SHOWN = shownSession('clock.now');
/** One statement, so that figures and sessions are consistent. The newest sessions are found through the account's newest transactions. */
const BALANCE = statement(
  `
  with clock as materialized (select clock_timestamp() as now),
  expired as (
    select coalesce(sum(s.reserved_ms), 0)::bigint as ms from sessions s, clock
    where s.account_id = $1 and s.slot is not null and s.status = 'reserved' and s.expires_at <= clock.now
  ),
  recent as (
    select t.seq, ${SHOWN.fields}
    from clock,
      (select seq, session_id from txn where account_id = $1 and kind = 'reserve' order by seq desc limit $2) t
      join sessions s on s.account_id = $1 and s.id = t.session_id
      ${SHOWN.joins}
  )
  select a.available_ms + expired.ms as available_ms, a.reserved_ms - expired.ms as reserved_ms, a.consumed_ms,
    recent.id, recent.model, recent.status, recent.reserved_ms as session_reserved_ms,
    recent.audio_ms, recent.billable_ms, recent.created_at, recent.expires_at, recent.completed_at
  from accounts a cross join expired left join recent on true
  where a.id = $1
  order by recent.seq desc`,
  {
    available_ms: t.number(),
    reserved_ms: t.number(),
    consumed_ms: t.number(),
    // Null for an account without sessions, like every column below it.
    id: t.nullable(t.text()),
    model: t.text<ModelId>(),
    status: t.text<SessionStatus>(),
    session_reserved_ms: t.number(),
    audio_ms: t.number(),
    billable_ms: t.number(),
    created_at: t.timestamp(),
    expires_at: t.timestamp(),
    completed_at: t.nullable(t.timestamp()),
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

const AVAILABLE = statement(
  `select a.available_ms + coalesce((
      select sum(s.reserved_ms) from sessions s where s.account_id = a.id and s.slot is not null
        and s.status = 'reserved' and s.expires_at <= clock_timestamp()), 0)::bigint as available_ms
    from accounts a where a.id = $1`,
  { available_ms: t.number() },
);

/** Credit that new sessions can reserve, overdue reservations included. */
export async function availableMsOf(db: Queryable, accountId: string): Promise<number> {
  const [row] = await queryRows(db, AVAILABLE, [accountId]);
  return row?.available_ms ?? 0;
}
