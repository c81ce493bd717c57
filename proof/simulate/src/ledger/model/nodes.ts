import { databaseError } from '../database.ts';
import { endSession } from './post.ts';
import { expireReservations } from './sessions.ts';
import { sessionOf, type Moment, type NodeRow, type SessionRow } from './state.ts';

const LEASE_MS = 6_000;
const STREAM_MAX_MS = 20 * 60_000;
const LOST_AUDIO_KEPT_MS = 300_000;
const KEY_KEPT_MS = 60_000;
const TAKEOVER_KEPT_MS = 3_600_000;

export function registerNode(
  { state, nowMs }: Moment,
  call: { id: string; publicUrl: string; models: readonly string[]; capacity: number },
): number {
  const epoch = (state.nodes.get(call.id)?.epoch ?? 0) + 1;
  state.nodes.set(call.id, {
    ...call,
    epoch,
    active: 0,
    draining: false,
    startedAt: nowMs,
    renewedAt: nowMs,
    leaseUntil: nowMs + LEASE_MS,
    retiredAt: null,
  });
  return epoch;
}

export function renewNode(
  { state, nowMs }: Moment,
  call: { id: string; epoch: number; active: number; capacity: number; draining: boolean },
): boolean {
  const node = state.nodes.get(call.id);
  if (node === undefined || node.epoch !== call.epoch || node.retiredAt !== null) return false;
  const { active, capacity, draining } = call;
  Object.assign(node, { active, capacity, draining });
  node.renewedAt = nowMs;
  node.leaseUntil = nowMs + LEASE_MS;
  return true;
}

export function retireNode({ state, nowMs }: Moment, call: { id: string; epoch: number }): boolean {
  const node = state.nodes.get(call.id);
  if (node === undefined || node.epoch !== call.epoch || node.retiredAt !== null) return false;
  Object.assign(node, { retiredAt: nowMs, draining: true, active: 0 });
  return true;
}

export function liveNodes({ state, nowMs }: Moment): NodeRow[] {
  return [...state.nodes.values()]
    .filter(({ leaseUntil, retiredAt }) => leaseUntil > nowMs && retiredAt === null)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

export function reportLiveAudio(
  { state }: Moment,
  call: { id: string; epoch: number; sessionIds: readonly string[]; samples: readonly number[] },
): void {
  const node = state.nodes.get(call.id);
  if (node === undefined || node.epoch !== call.epoch || node.retiredAt !== null) return;
  if (call.sessionIds.length !== call.samples.length) {
    throw databaseError('23514', 'one count per session');
  }
  const samples = new Map(call.sessionIds.map((id, at) => [id, call.samples[at] ?? 0]));
  state.liveAudio.set(call.id, { nodeId: call.id, nodeEpoch: call.epoch, samples });
}

/** Counts the streams that are described for the first time, by the node and upgrade that claimed them. */
export function recordStreams({ state }: Moment, call: { node: string; streams: string }): number {
  const before = state.described.size;
  const streams: { account_id: string; session_id: string; request_id: string }[] = JSON.parse(
    call.streams,
  );
  for (const { account_id, session_id, request_id } of streams) {
    const session = sessionOf(state, account_id, session_id);
    if (session?.nodeId !== call.node || session.upgradeId !== request_id) continue;
    state.described.add(session_id);
  }
  return state.described.size - before;
}

/** The log of calls decides nothing, so that only its size is known. */
export function recordCalls(calls: string): number {
  const rows: unknown[] = JSON.parse(calls);
  return rows.length;
}

/** Fails the sessions of lost nodes, unless leases may have expired for want of a database. */
export function failOrphans(moment: Moment, batch: number): { failed: number; quietMs: number } {
  const { state, nowMs, startedAtMs } = moment;
  const quietMaxMs = nowMs + 2 * LEASE_MS;
  const { lastTickAt, quietUntil } = state.watch;
  const hasGap = lastTickAt < nowMs - LEASE_MS / 2 || lastTickAt > nowMs;
  state.watch = {
    lastTickAt: nowMs,
    quietUntil: Math.max(
      quietUntil <= quietMaxMs ? quietUntil : -Infinity,
      startedAtMs <= nowMs ? startedAtMs + 2 * LEASE_MS : nowMs,
      hasGap ? quietMaxMs : -Infinity,
    ),
  };
  const quietMs = Math.max(0, state.watch.quietUntil - nowMs);
  const expiredBefore = quietMs === 0 ? nowMs : -Infinity;
  let failed = 0;
  for (const session of state.live.values()) {
    if (failed >= batch) break;
    if (!isOrphan(moment, session, expiredBefore)) continue;
    endSession(state, session, { status: 'failed', samples: 0, at: nowMs, sweptAt: nowMs });
    failed += 1;
  }
  return { failed, quietMs };
}

/** Whether no node can serve a live session. */
function isOrphan({ state, nowMs }: Moment, session: SessionRow, expiredBefore: number): boolean {
  if (session.claimedAt === null && session.expiresAt <= nowMs) return false;
  const node = state.nodes.get(session.nodeId);
  const isLost =
    node === undefined ||
    node.retiredAt !== null ||
    (session.nodeEpoch !== null && session.nodeEpoch < node.epoch) ||
    node.leaseUntil <= expiredBefore ||
    (session.claimedAt !== null && session.claimedAt <= expiredBefore - STREAM_MAX_MS);
  if (!isLost || session.status !== 'reserved') return isLost;
  return ![...state.nodes.values()].some(
    (other) =>
      other.publicUrl === session.websocketUrl &&
      other.retiredAt === null &&
      !other.draining &&
      other.leaseUntil > expiredBefore,
  );
}

/** Expires all overdue reservations, and forgets idempotency keys that can be reused. */
export function sweepReservations(
  moment: Moment,
  batch: number,
): { expired: number; forgotten: number } {
  const { state, nowMs } = moment;
  const expired = expireReservations(moment, null, batch);
  const forgotten = Math.max(
    forget(state.idempotency, batch, ({ expiresAt }) => expiresAt < nowMs - KEY_KEPT_MS),
    forget(state.lostAudio, batch, ({ lostAt }) => lostAt < nowMs - LOST_AUDIO_KEPT_MS),
    forget(state.takeovers, batch, ({ requestedAt }) => requestedAt < nowMs - TAKEOVER_KEPT_MS),
  );
  return { expired, forgotten };
}

function forget<Row>(rows: Map<string, Row>, batch: number, isOld: (row: Row) => boolean): number {
  let forgotten = 0;
  for (const [key, row] of rows) {
    if (forgotten >= batch) break;
    if (!isOld(row)) continue;
    rows.delete(key);
    forgotten += 1;
  }
  return forgotten;
}
