import { databaseError } from '../database.ts';
import { endSession, isPaid, post, settleLate, type Replayed } from './post.ts';
import {
  sessionOf,
  type AccountRow,
  type LedgerState,
  type Moment,
  type SessionRow,
} from './state.ts';

const CREDENTIAL_MS = 60_000;
const BLOCKED_RETRY_MS = 5_000;
const BLOCKED_RETRY_MIN_MS = 1_000;
const SWEPT_AFTER_MS = 1_500;
const LOST_RETRY_MS = 2_000;
const LATE_CLOSE_MS = 5 * 60_000;
const SAMPLES_PER_MS = 16;

export interface Reserve {
  readonly accountId: string;
  readonly sessionId: string;
  readonly again: boolean;
  readonly keyId: string | null;
  readonly model: string;
  readonly requestedMs: number;
  readonly keyHash: string | null;
  readonly requestHash: string | null;
  readonly nodeId: string | null;
  readonly url: string | null;
}

/** Expected answers of reserve_session, with the names of its columns. */
export interface Reserved {
  readonly outcome: string;
  readonly replayed?: boolean;
  readonly session?: SessionRow;
  readonly reservedMs?: number;
  readonly blocker?: 'reserved' | 'active';
  readonly retryAfterMs?: number;
}

/** One payment has the same audio recognised so often at most. */
const HOPS_MAX = 10;
/** The highest number of a slot. */
const SLOTS_MAX = 10_000;

/** The order of the checks is part of the contract: account, replay, move, slots, credit, capacity. */
export function reserve({ state, nowMs }: Moment, call: Reserve): Reserved {
  const account = state.accounts.get(call.accountId);
  if (account?.status !== 'active') return { outcome: 'account_inactive' };
  const known = findKnown({ state, nowMs }, call);
  if (known === 'conflict') return { outcome: 'idempotency_conflict' };
  if (known !== undefined) return { outcome: 'reserved', replayed: true, session: known };
  if (account.moveState !== null) return { outcome: 'account_moving' };

  const own = [...(state.liveOf.get(account.id) ?? [])];
  const live = own.filter((session) => !isExpired(session, nowMs) && !isGivenUp(state, session));
  const areLive = new Set(live);
  const lost = live.filter(({ id }) => state.takeovers.has(id)).length;
  const limit = account.concurrencyLimit;
  const isFull = live.length - lost >= limit || live.length >= Math.min(2 * limit, SLOTS_MAX);
  const returnedMs = own.reduce((sum, each) => sum + (areLive.has(each) ? 0 : each.reservedMs), 0);
  const wholeMs = Math.floor((account.availableMs + returnedMs) / 1000) * 1000;
  const reservedMs = Math.min(call.requestedMs, wholeMs);
  const isReserved = !isFull && reservedMs >= 1000 && call.nodeId !== null;
  // Before anything changes, because an error undoes the whole call.
  if (isReserved && state.sessions.has(call.sessionId)) {
    throw databaseError('23505', `session ${call.sessionId} exists`);
  }
  expireReservations({ state, nowMs }, account.id);
  for (const session of own.filter((each) => isGivenUp(state, each))) {
    endSession(state, session, { status: 'failed', samples: 0, at: nowMs });
  }
  if (isFull) return blockedBy({ state, nowMs }, live);
  if (reservedMs < 1000 && lost > 0) {
    const outcome = 'concurrency_limit_exceeded';
    return { outcome, reservedMs, blocker: 'active', retryAfterMs: LOST_RETRY_MS };
  }
  if (reservedMs < 1000) return { outcome: 'insufficient_credits', reservedMs };
  if (!isReserved) return { outcome: 'no_capacity', reservedMs };
  const session = insertSession({ state, nowMs }, { call, account, live, reservedMs });
  return { outcome: 'reserved', replayed: false, session };
}

function findKnown(
  { state, nowMs }: Pick<Moment, 'state' | 'nowMs'>,
  call: Reserve,
): SessionRow | 'conflict' | undefined {
  if (call.keyHash === null) {
    return call.again ? sessionOf(state, call.accountId, call.sessionId) : undefined;
  }
  const row = state.idempotency.get(`${call.accountId} ${call.keyHash}`);
  if (row === undefined || row.expiresAt <= nowMs) return undefined;
  if (row.requestHash !== call.requestHash) return 'conflict';
  return sessionOf(state, row.accountId, row.sessionId);
}

/** An active session may end at any time. If its node is lost, the sweeper ends it a second after the lease. */
function blockedBy(
  { state, nowMs }: Pick<Moment, 'state' | 'nowMs'>,
  live: readonly SessionRow[],
): Reserved {
  const reserved = live.filter(({ status }) => status === 'reserved');
  const active = live.filter(({ status }) => status === 'active');
  const waits = reserved.map(({ expiresAt }) => expiresAt - nowMs);
  if (active.length > 0) {
    const leases = active.flatMap(({ nodeId }) => state.nodes.get(nodeId)?.leaseUntil ?? []);
    const leftMs = leases.length === 0 ? 0 : Math.min(...leases) - nowMs;
    const sweptMs = leftMs + SWEPT_AFTER_MS;
    waits.push(Math.max(BLOCKED_RETRY_MIN_MS, Math.min(BLOCKED_RETRY_MS, sweptMs)));
  }
  return {
    outcome: 'concurrency_limit_exceeded',
    blocker: reserved.length === 0 ? 'active' : 'reserved',
    retryAfterMs: Math.min(...waits, CREDENTIAL_MS),
  };
}

function insertSession(
  { state, nowMs }: Pick<Moment, 'state' | 'nowMs'>,
  input: {
    readonly call: Reserve;
    readonly account: AccountRow;
    readonly live: readonly SessionRow[];
    readonly reservedMs: number;
  },
): SessionRow {
  const { call, account, live, reservedMs } = input;
  const taken = new Set(live.map(({ slot }) => slot));
  let slot = 1;
  while (taken.has(slot)) slot += 1;
  const session: SessionRow = {
    accountId: account.id,
    id: call.sessionId,
    keyId: call.keyId,
    model: call.model,
    status: 'reserved',
    slot,
    reservedMs,
    remainingMs: account.availableMs - reservedMs,
    websocketUrl: call.url ?? '',
    nodeId: call.nodeId ?? '',
    nodeEpoch: null,
    upgradeId: null,
    samples: 0,
    audioMs: 0,
    billableMs: 0,
    createdAt: nowMs,
    expiresAt: nowMs + CREDENTIAL_MS,
    claimedAt: null,
    completedAt: null,
    sweptAt: null,
    continues: null,
    replayedSamples: null,
  };
  post(state, account, {
    kind: 'reserve',
    sessionId: session.id,
    at: nowMs,
    available: -reservedMs,
    reserved: reservedMs,
    consumed: 0,
  });
  state.sessions.set(session.id, session);
  state.live.set(session.id, session);
  const liveOfAccount = state.liveOf.get(account.id) ?? new Set();
  state.liveOf.set(account.id, liveOfAccount.add(session));
  if (call.keyHash !== null) {
    state.idempotency.set(`${account.id} ${call.keyHash}`, {
      accountId: account.id,
      keyHash: call.keyHash,
      requestHash: call.requestHash ?? '',
      sessionId: session.id,
      expiresAt: session.expiresAt,
    });
  }
  return session;
}

function isExpired({ status, expiresAt }: SessionRow, nowMs: number): boolean {
  return status === 'reserved' && expiresAt <= nowMs;
}

/** Its client could not open it on its node. */
function isGivenUp({ takeovers }: Moment['state'], { id, status }: SessionRow): boolean {
  return status === 'reserved' && takeovers.has(id);
}

/** Expires the reservations of one account, or of all. Returns their number. */
export function expireReservations(
  { state, nowMs }: Pick<Moment, 'state' | 'nowMs'>,
  accountId: string | null,
  batch = Infinity,
): number {
  let expired = 0;
  const among = accountId === null ? state.live.values() : [...(state.liveOf.get(accountId) ?? [])];
  for (const session of among) {
    if (!isExpired(session, nowMs) || expired >= batch) continue;
    endSession(state, session, { status: 'expired', samples: 0, at: session.expiresAt });
    expired += 1;
  }
  return expired;
}

export interface Claim {
  readonly accountId: string;
  readonly sessionId: string;
  readonly upgradeId: string;
  readonly nodeId: string;
  readonly nodeEpoch: number;
}

export interface Claimed {
  readonly outcome: string;
  readonly session?: SessionRow;
  readonly allowedOrigins?: readonly string[] | null;
}

/** Spends a credential, for exactly one upgrade. */
export function claim({ state, nowMs }: Moment, call: Claim): Claimed {
  const session = sessionOf(state, call.accountId, call.sessionId);
  if (session === undefined) return { outcome: 'unknown' };
  const account = state.accounts.get(call.accountId);
  const known = { session, allowedOrigins: account?.allowedOrigins ?? null };
  if (session.claimedAt !== null) {
    const isSame =
      session.status === 'active' &&
      session.upgradeId === call.upgradeId &&
      session.nodeId === call.nodeId &&
      session.nodeEpoch === call.nodeEpoch;
    return { ...known, outcome: isSame ? 'claimed' : 'used' };
  }
  if (session.status !== 'reserved' || session.expiresAt <= nowMs) {
    return { ...known, outcome: 'expired' };
  }
  if (account?.status !== 'active') return { ...known, outcome: 'account_inactive' };
  if (isGivenBack(state, call)) return { ...known, outcome: 'used' };
  const { nodeId, nodeEpoch, upgradeId } = call;
  state.claims.set(session.id, { ...call, claimedAt: nowMs });
  Object.assign(session, { status: 'active', nodeId, nodeEpoch, upgradeId, claimedAt: nowMs });
  return { ...known, outcome: 'claimed' };
}

export interface GiveBack {
  readonly accountId: string;
  readonly sessionId: string;
  readonly upgradeId: string;
}

/** Gives a claim back that opened no stream. The session is reserved again until its own expiry. */
export function giveBack({ state, nowMs }: Moment, call: GiveBack): string {
  const session = sessionOf(state, call.accountId, call.sessionId);
  if (session === undefined) throw databaseError('SVC01', 'the session does not exist');
  if (session.completedAt !== null) return 'not_claimed';
  if (!isGivenBack(state, call)) {
    state.givenBack.set(`${call.sessionId} ${call.upgradeId}`, { ...call, givenBackAt: nowMs });
  }
  if (session.status !== 'active' || session.upgradeId !== call.upgradeId) return 'not_claimed';
  state.claims.delete(session.id);
  Object.assign(session, {
    status: 'reserved',
    nodeEpoch: null,
    upgradeId: null,
    claimedAt: null,
  });
  return 'given_back';
}

export function isGivenBack(
  { givenBack }: LedgerState,
  call: { readonly sessionId: string; readonly upgradeId: string },
): boolean {
  return givenBack.has(`${call.sessionId} ${call.upgradeId}`);
}

export interface Close {
  readonly accountId: string;
  readonly sessionId: string;
  readonly status: string;
  readonly samples: number;
  readonly nodeId: string;
  readonly nodeEpoch: number;
  readonly upgradeId: string | null;
  readonly lostId: string | null;
  readonly replayed: number;
  readonly lengths: readonly number[] | null;
  readonly digests: readonly string[] | null;
  readonly isTold: boolean;
}

/** Settles a session once. */
export function close({ state, nowMs }: Moment, call: Close): string {
  const session = sessionOf(state, call.accountId, call.sessionId);
  if (session === undefined) throw databaseError('SVC01', 'the session does not exist');
  const isOwner = session.nodeId === call.nodeId && session.nodeEpoch === call.nodeEpoch;
  const samples =
    session.claimedAt === null ? 0 : Math.min(call.samples, session.reservedMs * SAMPLES_PER_MS);
  const replayed = replayedIn(state, session, { ...call, samples });
  if (session.completedAt !== null) {
    if (!isOwner || !maySettleLate({ state, nowMs }, session, call)) return 'already';
    settleLate(state, session, { samples, at: nowMs, replayed });
    keepLostAudio({ state, nowMs }, call);
    return 'settled_late';
  }
  if (session.status === 'reserved' && session.expiresAt <= nowMs) {
    endSession(state, session, { status: 'expired', samples: 0, at: session.expiresAt });
    return 'already';
  }
  if (call.status !== 'completed' && call.status !== 'failed') {
    throw databaseError('SVC02', 'a session is closed as completed or failed');
  }
  const isActive = session.status === 'active';
  const isOther = call.upgradeId !== null && session.upgradeId !== call.upgradeId;
  if (isActive && call.status === 'failed' && isOther) return 'superseded';
  if (isActive && !isOwner) throw databaseError('SVC03', 'the session belongs to another node');
  if (!isActive) {
    throw databaseError('SVC04', 'the session was never claimed');
  }
  endSession(state, session, { status: call.status, samples, at: nowMs, replayed });
  if (call.status === 'completed') keepLostAudio({ state, nowMs }, call);
  return 'closed';
}

/** How much of a session was charged in the lost one that it continues, which is handed on once. */
function replayedIn(state: LedgerState, session: SessionRow, call: Close): Replayed | null {
  if (call.lostId === null || call.lostId === session.id || call.status !== 'completed')
    return null;
  const lost = sessionOf(state, session.accountId, call.lostId);
  if (lost?.status !== 'completed' || !isPaid(lost) || state.continued.has(lost.id)) return null;
  const samples = Math.min(call.replayed, call.samples, lost.samples);
  return samples === 0 ? null : { sessionId: lost.id, samples };
}

function keepLostAudio(
  { state, nowMs }: Pick<Moment, 'state' | 'nowMs'>,
  { accountId, sessionId, lengths, digests }: Close,
): void {
  if (lengths === null || lengths.length === 0 || state.lostAudio.has(sessionId)) return;
  const audio = { lengths, digests: digests ?? [] };
  state.lostAudio.set(sessionId, { accountId, sessionId, ...audio, lostAt: nowMs });
}

export interface FoundSession {
  readonly sessionId: string;
  readonly isOver: boolean;
  readonly lengths: readonly string[] | null;
  readonly digests: readonly string[] | null;
}

/** What lost sessions were charged for and nobody sent again yet. */
export function findLostAudio(
  { state }: Pick<Moment, 'state'>,
  call: { readonly accountId: string; readonly sessionIds: readonly string[] },
): FoundSession[] {
  return call.sessionIds.flatMap((id) => {
    const session = sessionOf(state, call.accountId, id);
    if (session === undefined) return [];
    const isFree =
      session.status === 'completed' &&
      isPaid(session) &&
      !state.continued.has(id) &&
      continuedBefore(state, session) < HOPS_MAX;
    const audio = isFree ? state.lostAudio.get(id) : undefined;
    return {
      sessionId: id,
      isOver: session.completedAt !== null,
      lengths: audio?.lengths.map(String) ?? null,
      digests: audio?.digests ?? null,
    };
  });
}

/** How many sessions before this one each continued the one before it. */
function continuedBefore(state: LedgerState, { accountId, continues }: SessionRow): number {
  const before = continues === null ? undefined : sessionOf(state, accountId, continues);
  return before === undefined ? 0 : 1 + continuedBefore(state, before);
}

/** Asks the node of a live session to end it. */
export function requestTakeover(
  { state, nowMs }: Pick<Moment, 'state' | 'nowMs'>,
  call: { readonly accountId: string; readonly sessionId: string; readonly proof: string },
): boolean {
  const session = sessionOf(state, call.accountId, call.sessionId);
  if (session === undefined || session.completedAt !== null) return false;
  state.takeovers.set(call.sessionId, { ...call, requestedAt: nowMs });
  return true;
}

function maySettleLate(
  { state, nowMs }: Pick<Moment, 'state' | 'nowMs'>,
  session: SessionRow,
  call: Close,
): boolean {
  const moveState = state.accounts.get(call.accountId)?.moveState ?? 'moving';
  return (
    session.status === 'failed' &&
    call.status === 'completed' &&
    call.isTold &&
    session.sweptAt !== null &&
    session.sweptAt + LATE_CLOSE_MS >= nowMs &&
    moveState === 'moving'
  );
}
