import { isGivenBack } from './sessions.ts';
import { sessionOf, type Moment } from './state.ts';

const MARK_KEPT_MS = 30 * 24 * 60 * 60_000;

export interface Mark {
  readonly processId: string;
  readonly nodeId: string;
  readonly position: number;
  readonly accountId: string | null;
  readonly sessionId: string | null;
  readonly isOver: boolean | null;
  readonly upgradeId: string | null;
}

/** Compares the history that was acknowledged to a process with this database, and advances the process's mark. */
export function markLedger(
  { state, nowMs }: Moment,
  call: Mark,
): { outcome: 'known' | 'accepted' | 'rolled_back'; marked: number | null } {
  const mark = state.marks.get(call.processId);
  const hasMark = call.position === 0 || (mark !== undefined && mark.position >= call.position);
  const isKnown = hasMark && hasSession({ state }, call);
  if (!isKnown && (mark === undefined || mark.acceptedAt === null)) {
    if (mark !== undefined) mark.refusedAt ??= nowMs;
    else {
      const { processId, nodeId } = call;
      const refused = { processId, nodeId, position: 0, markedAt: nowMs };
      state.marks.set(processId, { ...refused, refusedAt: nowMs, acceptedAt: null });
    }
    return { outcome: 'rolled_back', marked: null };
  }
  const before = Math.max(call.position, mark?.position ?? 0);
  state.marks.set(call.processId, {
    processId: call.processId,
    nodeId: mark?.nodeId ?? call.nodeId,
    position: before + 1,
    markedAt: nowMs,
    refusedAt: null,
    acceptedAt: null,
  });
  if (call.position === 0) {
    for (const [id, { markedAt }] of state.marks) {
      if (markedAt < nowMs - MARK_KEPT_MS) state.marks.delete(id);
    }
  }
  return { outcome: isKnown ? 'known' : 'accepted', marked: before + 1 };
}

function hasSession({ state }: Pick<Moment, 'state'>, call: Mark): boolean {
  if (call.sessionId === null) return true;
  const session = sessionOf(state, call.accountId ?? '', call.sessionId);
  if (session === undefined) return false;
  const { slot, upgradeId } = session;
  const wasGivenBack =
    call.upgradeId !== null &&
    isGivenBack(state, { sessionId: session.id, upgradeId: call.upgradeId });
  if (call.isOver === true) return slot === null || wasGivenBack;
  return call.upgradeId === null || upgradeId === call.upgradeId || wasGivenBack;
}

/** An operator accepts the loss of history. Returns how many processes refused this database. */
export function acceptHistory({ state, nowMs }: Moment): number {
  let accepted = 0;
  for (const mark of state.marks.values()) {
    if (mark.refusedAt === null || mark.acceptedAt !== null) continue;
    mark.acceptedAt = nowMs;
    accepted += 1;
  }
  return accepted;
}
