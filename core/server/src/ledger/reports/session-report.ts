import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t, type RowOf } from '../../platform/database/statement.ts';
import { findSessionsOf, type ListedSessionRow } from './session-list.ts';

const CLAIM = statement(
  `select claimed_at, node_id, upgrade_id,
    (select request_id from api_calls c where c.account_id = s.account_id and c.session_id = s.id
      and c.at between s.created_at - interval '10 s' and s.created_at + interval '60 s' order by at limit 1) as created_request_id
    from sessions s where account_id = $1 and id = $2`,
  {
    created_request_id: t.nullable(t.text()),
    claimed_at: t.nullable(t.timestamp()),
    node_id: t.text(),
    upgrade_id: t.nullable(t.text()),
  },
);
const STREAM = statement(
  `select ready_ms, first_words_ms, first_final_ms, last_final_ms, ended_ms, finals, delta_lag_p50_ms,
    delta_lag_p95_ms, gaps, longest_gap_ms, hints, audio_hint
    from session_details where account_id = $1 and session_id = $2`,
  {
    ready_ms: t.nullable(t.number()),
    first_words_ms: t.nullable(t.number()),
    first_final_ms: t.nullable(t.number()),
    last_final_ms: t.nullable(t.number()),
    ended_ms: t.number(),
    finals: t.number(),
    delta_lag_p50_ms: t.nullable(t.number()),
    delta_lag_p95_ms: t.nullable(t.number()),
    gaps: t.number(),
    longest_gap_ms: t.number(),
    hints: t.texts(),
    audio_hint: t.nullable(t.text()),
  },
);
const TRANSACTIONS = statement(
  `select seq, kind, created_at, available_ms, reserved_ms, consumed_ms, available_after_ms
    from txn where account_id = $1 and session_id = $2 order by seq`,
  {
    seq: t.number(),
    kind: t.text(),
    created_at: t.timestamp(),
    available_ms: t.number(),
    reserved_ms: t.number(),
    consumed_ms: t.number(),
    available_after_ms: t.number(),
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
