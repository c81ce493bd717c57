import type { Queryable } from '../platform/db.ts';
import {
  nullable,
  number,
  queryRows,
  statement,
  text,
  texts,
  timestamp,
  type RowOf,
} from '../platform/statement.ts';
import { findSessionsOf, type ListedSessionRow } from './session-list.ts';

const CLAIM = statement(
  `select claimed_at, node_id, attempt_id,
    (select request_id from api_calls c where c.account_id = s.account_id and c.session_id = s.id
      and c.at between s.created_at - interval '10 s' and s.created_at + interval '60 s' order by at limit 1) as created_request_id
    from sessions s where account_id = $1 and id = $2`,
  {
    created_request_id: nullable(text()),
    claimed_at: nullable(timestamp()),
    node_id: text(),
    attempt_id: nullable(text()),
  },
);
const STREAM = statement(
  `select ready_ms, first_delta_ms, first_final_ms, last_final_ms, ended_ms, finals, delta_lag_p50_ms,
    delta_lag_p95_ms, gaps, longest_gap_ms, hints, audio_hint
    from session_details where account_id = $1 and session_id = $2`,
  {
    ready_ms: nullable(number()),
    first_delta_ms: nullable(number()),
    first_final_ms: nullable(number()),
    last_final_ms: nullable(number()),
    ended_ms: number(),
    finals: number(),
    delta_lag_p50_ms: nullable(number()),
    delta_lag_p95_ms: nullable(number()),
    gaps: number(),
    longest_gap_ms: number(),
    hints: texts(),
    audio_hint: nullable(text()),
  },
);
const TRANSACTIONS = statement(
  `select seq, kind, created_at, available_ms, reserved_ms, consumed_ms, available_after_ms
    from txn where account_id = $1 and session_id = $2 order by seq`,
  {
    seq: number(),
    kind: text(),
    created_at: timestamp(),
    available_ms: number(),
    reserved_ms: number(),
    consumed_ms: number(),
    available_after_ms: number(),
  },
);

export interface SessionReportRows {
  readonly session: ListedSessionRow;
  readonly claim: RowOf<typeof CLAIM>;
  readonly stream: RowOf<typeof STREAM> | null;
  readonly transactions: readonly RowOf<typeof TRANSACTIONS>[];
}

/** Everything that is known about one session of an account, or null. */
export async function reportSession(
  db: Queryable,
  input: { readonly accountId: string; readonly id: string },
): Promise<SessionReportRows | null> {
  const ids = [input.accountId, input.id];
  const [sessions, [claim], [stream], transactions] = await Promise.all([
    findSessionsOf(db, input),
    queryRows(db, CLAIM, ids),
    queryRows(db, STREAM, ids),
    queryRows(db, TRANSACTIONS, ids),
  ]);
  const session = sessions.find(({ id }) => id === input.id);
  if (session === undefined || claim === undefined) return null;
  return { session, claim, stream: stream ?? null, transactions };
}
