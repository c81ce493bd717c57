import { databaseError } from '../database.ts';
import type { AccountRow, LedgerState, SessionRow, TxnKind } from './state.ts';

/** What a transaction adds to each balance. */
interface Amounts {
  readonly available: number;
  readonly reserved: number;
  readonly consumed: number;
}

interface Posting extends Amounts {
  readonly kind: TxnKind;
  readonly sessionId?: string;
  readonly requestId?: string;
  readonly reason?: string;
  readonly at: number;
}

/** The only writer of balances and transactions. */
export function post(state: LedgerState, account: AccountRow, posting: Posting): void {
  refuseWhileAway(account);
  account.grantedMs += posting.available + posting.reserved + posting.consumed;
  account.availableMs += posting.available;
  account.reservedMs += posting.reserved;
  account.consumedMs += posting.consumed;
  account.lastSeq += 1;
  state.txns.push({
    accountId: account.id,
    seq: account.lastSeq,
    kind: posting.kind,
    sessionId: posting.sessionId ?? null,
    requestId: posting.requestId ?? null,
    reason: posting.reason ?? null,
    availableMs: posting.available,
    reservedMs: posting.reserved,
    consumedMs: posting.consumed,
    availableAfterMs: account.availableMs,
    createdAt: posting.at,
  });
}

/** An account that was sealed for a move can't change, because the change would be lost. */
export function refuseWhileAway(account: AccountRow): void {
  if (account.moveState === 'sealed') {
    throw databaseError('23000', 'the account is between two cells');
  }
}

/** The first samples of a session, which were charged in another one. */
export interface Replayed {
  readonly sessionId: string;
  readonly samples: number;
}

const END_KINDS = { completed: 'complete', failed: 'fail', expired: 'expire' } as const;

/** Ends a live session and moves its credit. */
export function endSession(
  state: LedgerState,
  session: SessionRow,
  end: {
    status: keyof typeof END_KINDS;
    samples: number;
    at: number;
    sweptAt?: number;
    replayed?: Replayed | null;
  },
): void {
  const account = requireAccount(state, session.accountId);
  const replayed = end.replayed?.samples ?? 0;
  const billableMs =
    end.status === 'completed'
      ? Math.min(session.reservedMs, wholeSeconds(end.samples - replayed))
      : 0;
  post(state, account, {
    kind: END_KINDS[end.status],
    sessionId: session.id,
    at: end.at,
    available: session.reservedMs - billableMs,
    reserved: -session.reservedMs,
    consumed: billableMs,
  });
  session.status = end.status;
  session.slot = null;
  session.samples = end.samples;
  session.audioMs = Math.ceil(end.samples / 16);
  session.billableMs = billableMs;
  session.completedAt = end.at;
  session.sweptAt = end.sweptAt ?? null;
  setReplayed(state, session, end.replayed ?? null);
  state.live.delete(session.id);
  state.liveOf.get(session.accountId)?.delete(session);
}

/** Charges a session that the sweeper failed although its node was alive, as far as credit is available. */
export function settleLate(
  state: LedgerState,
  session: SessionRow,
  late: { samples: number; at: number; replayed: Replayed | null },
): void {
  const account = requireAccount(state, session.accountId);
  const availableMs = Math.floor(account.availableMs / 1000) * 1000;
  const unpaid = late.samples - (late.replayed?.samples ?? 0);
  const billableMs = Math.min(session.reservedMs, wholeSeconds(unpaid), availableMs);
  session.status = 'completed';
  session.samples = late.samples;
  session.audioMs = Math.ceil(late.samples / 16);
  session.billableMs = billableMs;
  setReplayed(state, session, late.replayed);
  session.completedAt = Math.max(late.at, session.sweptAt ?? 0);
  post(state, account, {
    kind: 'settle_late',
    sessionId: session.id,
    at: late.at,
    available: -billableMs,
    reserved: 0,
    consumed: billableMs,
  });
}

/** Whether a session was charged for all of its audio. One that was settled late may not be. */
export function isPaid({ billableMs, samples, replayedSamples }: SessionRow): boolean {
  return billableMs === wholeSeconds(samples - (replayedSamples ?? 0));
}

function setReplayed(
  { continued }: LedgerState,
  session: SessionRow,
  replayed: Replayed | null,
): void {
  session.continues = replayed?.sessionId ?? null;
  session.replayedSamples = replayed?.samples ?? null;
  if (replayed !== null) continued.add(replayed.sessionId);
}

function requireAccount({ accounts }: LedgerState, id: string): AccountRow {
  const account = accounts.get(id);
  if (account === undefined) throw databaseError('23503', `account ${id} does not exist`);
  return account;
}

function wholeSeconds(samples: number): number {
  return Math.ceil(samples / 16_000) * 1000;
}
