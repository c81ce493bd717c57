import type { Queryable } from '../platform/database/db.ts';
import { queryRows, statement, t } from '../platform/database/statement.ts';

const END_REQUESTED = statement(
  'select session_id from session_end_requests where session_id = any($1)',
  { session_id: t.text() },
);

/** Returns the given sessions that an operator wants to end. */
export async function listEndRequested(
  db: Queryable,
  sessionIds: readonly string[],
): Promise<Set<string>> {
  if (sessionIds.length === 0) return new Set();
  const rows = await queryRows(db, END_REQUESTED, [sessionIds]);
  return new Set(rows.map((row) => row.session_id));
}

const REQUEST_END = statement('select request_session_end($1) as state', {
  state: t.nullable(t.text<'active' | 'reserved' | 'over'>()),
});

/** Asks the node of an open stream to end it. Returns the state of the session, or null for an unknown one. */
export async function requestSessionEnd(
  db: Queryable,
  sessionId: string,
): Promise<'active' | 'reserved' | 'over' | null> {
  const [row] = await queryRows(db, REQUEST_END, [sessionId]);
  return row?.state ?? null;
}
