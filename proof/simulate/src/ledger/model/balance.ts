import type { Moment, SessionRow } from './state.ts';

/** The rows of the balance statement: the account's figures with each of its newest sessions. */
export function balanceRows(
  { state, nowMs }: Moment,
  call: { accountId: string; limit: number },
): Record<string, unknown>[] {
  const account = state.accounts.get(call.accountId);
  if (account === undefined) return [];
  const overdueMs = [...state.live.values()]
    .filter((session) => session.accountId === account.id && isExpired(session, nowMs))
    .reduce((sum, { reservedMs }) => sum + reservedMs, 0);
  const figures = {
    available_ms: account.availableMs + overdueMs,
    reserved_ms: account.reservedMs - overdueMs,
    consumed_ms: account.consumedMs,
  };
  const recent = state.txns
    .filter(({ accountId, kind }) => accountId === account.id && kind === 'reserve')
    .slice(-call.limit)
    .toReversed()
    .flatMap(({ sessionId }) => state.sessions.get(sessionId ?? '') ?? []);
  if (recent.length === 0) return [{ ...figures, ...NO_SESSION }];
  return recent.map((session) => ({ ...figures, ...sessionColumns({ state, nowMs }, session) }));
}

const NO_SESSION = {
  id: null,
  model: null,
  status: null,
  session_reserved_ms: null,
  audio_ms: null,
  billable_ms: null,
  created_at: null,
  expires_at: null,
  completed_at: null,
};

function sessionColumns(
  { state, nowMs }: Pick<Moment, 'state' | 'nowMs'>,
  session: SessionRow,
): Record<string, unknown> {
  const expired = isExpired(session, nowMs);
  const report = session.status === 'active' ? state.liveAudio.get(session.nodeId) : undefined;
  const isReported = report !== undefined && report.nodeEpoch === session.nodeEpoch;
  const samples = report?.samples.get(session.id) ?? 0;
  const completedAt = expired ? session.expiresAt : session.completedAt;
  return {
    id: session.id,
    model: session.model,
    status: expired ? 'expired' : session.status,
    session_reserved_ms: session.reservedMs,
    audio_ms: isReported ? Math.ceil(samples / 16) : session.audioMs,
    billable_ms: session.billableMs,
    created_at: new Date(session.createdAt),
    expires_at: new Date(session.expiresAt),
    completed_at: completedAt === null ? null : new Date(completedAt),
  };
}

function isExpired(session: SessionRow, nowMs: number): boolean {
  return session.status === 'reserved' && session.expiresAt <= nowMs;
}
