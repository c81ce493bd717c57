import { databaseError } from '../database.ts';
import { post, refuseWhileAway } from './post.ts';
import { expireReservations } from './sessions.ts';
import type { AccountRow, Moment, TxnKind } from './state.ts';

const END_REQUEST_KEPT_MS = 24 * 60 * 60_000;

export function insertAccount({ state, nowMs }: Moment, id: string): void {
  if (state.accounts.has(id)) throw databaseError('23505', `account ${id} exists`);
  state.accounts.set(id, {
    id,
    status: 'active',
    concurrencyLimit: 1,
    limitChangedAt: nowMs,
    allowedOrigins: null,
    grantedMs: 0,
    availableMs: 0,
    reservedMs: 0,
    consumedMs: 0,
    lastSeq: 0,
    moveState: null,
    moveId: null,
    moveCell: null,
  });
}

/** Changes an account. Returns false if there is none. */
export function changeAccount(
  { state }: Moment,
  id: string,
  change: Partial<
    Pick<AccountRow, 'status' | 'concurrencyLimit' | 'limitChangedAt' | 'allowedOrigins'>
  >,
): boolean {
  const account = state.accounts.get(id);
  if (account === undefined) return false;
  refuseWhileAway(account);
  Object.assign(account, change);
  return true;
}

/** Sessions that are live now were admitted before the change, even if the clock was set back since. */
export function setLimit(moment: Moment, id: string, concurrencyLimit: number): boolean {
  const { state, nowMs } = moment;
  const own = [...state.live.values()].filter(({ accountId }) => accountId === id);
  const limitChangedAt = Math.max(nowMs, ...own.map(({ createdAt }) => createdAt));
  return changeAccount(moment, id, { concurrencyLimit, limitChangedAt });
}

export interface Credit {
  readonly accountId: string;
  readonly ms: number;
  readonly reason: string;
  readonly requestId: string;
}

export interface Credited {
  readonly outcome: string;
  readonly replayed?: boolean;
  readonly seq?: number;
  readonly availableMs?: number;
}

/** Adds or removes credit. A repeated request is applied once. */
export function postCredit(
  { state, nowMs }: Moment,
  kind: TxnKind & ('grant' | 'adjust'),
  call: Credit,
): Credited {
  if (kind === 'grant' && call.ms <= 0) throw databaseError('22023', 'a grant adds credit');
  const account = state.accounts.get(call.accountId);
  if (account === undefined) return { outcome: 'unknown_account' };
  const known = state.txns.find(
    ({ accountId, requestId }) => accountId === account.id && requestId === call.requestId,
  );
  if (known !== undefined) {
    const isSame =
      known.kind === kind && known.availableMs === call.ms && known.reason === call.reason;
    const outcome = isSame ? 'posted' : 'request_conflict';
    return { outcome, replayed: true, seq: known.seq, availableMs: known.availableAfterMs };
  }
  const { availableMs } = account;
  if (availableMs + call.ms < 0) return { outcome: 'insufficient_credits', availableMs };
  const amounts = { available: call.ms, reserved: 0, consumed: 0 };
  post(state, account, { kind, at: nowMs, ...amounts, ...call });
  return {
    outcome: 'posted',
    replayed: false,
    seq: account.lastSeq,
    availableMs: account.availableMs,
  };
}

/** Starts a move to another cell. Returns its id, which an unfinished move keeps. */
export function freezeAccount(
  { state }: Moment,
  call: { accountId: string; to: string; newId: string },
): string {
  const account = state.accounts.get(call.accountId);
  if (account !== undefined && account.moveState !== null && account.moveCell === call.to) {
    return account.moveId ?? '';
  }
  if (account === undefined || account.moveState !== null) {
    throw databaseError('55000', 'the account is not in this cell');
  }
  Object.assign(account, { moveState: 'moving', moveId: call.newId, moveCell: call.to });
  return call.newId;
}

/** Returns the number of live sessions. Without any, seals the account. */
export function sealAccount(moment: Moment, call: { accountId: string; moveId: string }): number {
  const account = moment.state.accounts.get(call.accountId);
  if (account === undefined || account.moveId !== call.moveId || account.moveState === null) {
    throw databaseError('55000', 'the move was cancelled');
  }
  expireReservations(moment, account.id);
  const live = [...moment.state.live.values()].filter(({ accountId }) => accountId === account.id);
  if (live.length === 0) account.moveState = 'sealed';
  return live.length;
}

export function cancelMove({ state }: Moment, accountId: string): boolean {
  const account = state.accounts.get(accountId);
  if (account === undefined || account.moveState === null) return false;
  Object.assign(account, { moveState: null, moveId: null, moveCell: null });
  return true;
}

/** Asks the node of an open stream to end it. Returns what the session is. */
export function requestSessionEnd(
  { state, nowMs }: Moment,
  sessionId: string,
): 'active' | 'reserved' | 'over' | null {
  const session = state.sessions.get(sessionId);
  if (session === undefined) return null;
  if (session.completedAt !== null) return 'over';
  if (session.status !== 'active') return 'reserved';
  for (const [id, requestedAt] of state.endRequests) {
    if (requestedAt < nowMs - END_REQUEST_KEPT_MS) state.endRequests.delete(id);
  }
  if (!state.endRequests.has(sessionId)) state.endRequests.set(sessionId, nowMs);
  return 'active';
}
