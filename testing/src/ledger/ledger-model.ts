import type { SessionStatus } from '@svc-asr/server/ledger/ledger.ts';

/** A model of one account in plain arithmetic: the expected responses and balances of the ledger. */

/**
 * `pick` chooses among the current sessions, so that any list of steps is valid and can be shrunk.
 */
export type Step =
  | {
      readonly do: 'reserve';
      readonly seconds: number;
      readonly key: string | null;
      readonly room: boolean;
    }
  | { readonly do: 'claim'; readonly pick: number; readonly sameAttempt: boolean }
  | {
      readonly do: 'close';
      readonly pick: number;
      readonly samples: number;
      readonly failed: boolean;
      /** By the upgrade that claimed it, or by another one of the same node. */
      readonly sameAttempt: boolean;
      /** By the process that claimed it, or by the one that runs now. */
      readonly sameProcess: boolean;
    }
  | { readonly do: 'age'; readonly pick: number }
  | { readonly do: 'restart' }
  | { readonly do: 'status'; readonly active: boolean }
  | { readonly do: 'limit'; readonly limit: number }
  | { readonly do: 'grant'; readonly ms: number }
  | { readonly do: 'adjust'; readonly ms: number }
  | { readonly do: 'sweep' };

export interface ModelSession {
  readonly id: string;
  readonly reservedMs: number;
  readonly remainingMs: number;
  readonly request: string;
  status: SessionStatus;
  /** Its sixty seconds have passed. */
  aged: boolean;
  claim: { upgradeId: string; epoch: number } | null;
  /** The sweeper failed it. */
  swept: boolean;
  samples: number;
  billableMs: number;
}

export interface ModelAccount {
  active: boolean;
  limit: number;
  availableMs: number;
  consumedMs: number;
  /** The epoch of its node. */
  epoch: number;
  /** Oldest first. */
  readonly sessions: ModelSession[];
  readonly keys: Map<string, ModelSession>;
}

const RECENT = 20;

export function newModelAccount(epoch: number): ModelAccount {
  const sessions: ModelSession[] = [];
  return {
    active: true,
    limit: 1,
    availableMs: 0,
    consumedMs: 0,
    epoch,
    sessions,
    keys: new Map(),
  };
}

/** `newId` is the id that the ledger gave a new session. */
export function modelReserve(
  account: ModelAccount,
  step: Step & { do: 'reserve' },
  newId: string,
): string {
  const known = step.key === null ? undefined : account.keys.get(step.key);
  const live = liveSessions(account);
  const reservedMs = Math.min(step.seconds * 1000, Math.floor(account.availableMs / 1000) * 1000);
  const remainingMs = account.availableMs - reservedMs;
  const request = String(step.seconds);
  if (!account.active) return 'account_inactive';
  if (known !== undefined && !known.aged) {
    if (known.request !== request) return 'idempotency_conflict';
    return `replayed ${known.id} ${known.reservedMs} ${known.remainingMs}`;
  }
  if (live.length >= account.limit) {
    const blocker = live.some((session) => session.status === 'reserved') ? 'reserved' : 'active';
    return `concurrency_limit_exceeded ${blocker}`;
  }
  if (reservedMs < 1000) return 'insufficient_credits';
  if (!step.room) return 'no_capacity';
  const session: ModelSession = {
    id: newId,
    reservedMs,
    remainingMs,
    request,
    status: 'reserved',
    aged: false,
    claim: null,
    swept: false,
    samples: 0,
    billableMs: 0,
  };
  account.sessions.push(session);
  account.availableMs = remainingMs;
  if (step.key !== null) account.keys.set(step.key, session);
  return `reserved ${newId} ${reservedMs} ${remainingMs}`;
}

export function modelClaim(
  account: ModelAccount,
  session: ModelSession | undefined,
  upgradeId: string,
): string {
  if (session === undefined) return 'unknown';
  if (session.claim !== null) {
    const again =
      session.status === 'active' &&
      session.claim.upgradeId === upgradeId &&
      session.claim.epoch === account.epoch;
    return again ? 'claimed' : 'used';
  }
  if (session.status !== 'reserved') return 'expired';
  if (!account.active) return 'account_inactive';
  session.status = 'active';
  session.claim = { upgradeId, epoch: account.epoch };
  return 'claimed';
}

export function modelClose(
  account: ModelAccount,
  session: ModelSession,
  step: Step & { do: 'close' },
): string {
  if (isOver(session)) return modelLateClose(account, session, step);
  if (session.status === 'active' && step.failed && !step.sameAttempt) return 'superseded';
  const samples = session.status === 'active' ? Math.min(step.samples, session.reservedMs * 16) : 0;
  const billableMs = step.failed
    ? 0
    : Math.min(session.reservedMs, Math.ceil(samples / 16_000) * 1000);
  end(account, session, { status: step.failed ? 'failed' : 'completed', samples, billableMs });
  return 'closed';
}

/** A process that was taken for dead reports that a stream completed. Its credit was returned, and some may be spent. */
function modelLateClose(
  account: ModelAccount,
  session: ModelSession,
  step: Step & { do: 'close' },
): string {
  const isOwner = step.sameProcess || session.claim?.epoch === account.epoch;
  if (session.status !== 'failed' || !session.swept || step.failed || !isOwner) return 'already';
  session.status = 'completed';
  session.samples = Math.min(step.samples, session.reservedMs * 16);
  const availableSeconds = Math.floor(account.availableMs / 1000);
  session.billableMs = 1000 * Math.min(Math.ceil(session.samples / 16_000), availableSeconds);
  account.availableMs -= session.billableMs;
  account.consumedMs += session.billableMs;
  return 'settled_late';
}

/** Makes one session a minute older. */
export function modelAge(account: ModelAccount, session: ModelSession): void {
  session.aged = true;
  if (session.status === 'reserved') end(account, session, { status: 'expired' });
}

/** The node restarts. Streams of the previous process fail and are not charged. */
export function modelRestart(account: ModelAccount, epoch: number): void {
  account.epoch = epoch;
  for (const session of account.sessions) {
    if (session.status !== 'active') continue;
    session.swept = true;
    end(account, session, { status: 'failed' });
  }
}

export function modelCredit(account: ModelAccount, ms: number): string {
  if (account.availableMs + ms < 0) return 'insufficient_credits';
  account.availableMs += ms;
  return 'posted';
}

/** Returns the next step of a well-behaved client or operator. */
export function likelyStep(account: ModelAccount): Step {
  if (!account.active) return { do: 'status', active: true };
  if (account.availableMs < 1_000) return { do: 'grant', ms: 600_000 };
  const newest = pickSession(account, 0);
  if (newest?.status === 'reserved') return { do: 'claim', pick: 0, sameAttempt: false };
  if (newest?.status === 'active') {
    return {
      do: 'close',
      pick: 0,
      samples: account.sessions.length * 4_001,
      failed: false,
      sameAttempt: true,
      sameProcess: true,
    };
  }
  return { do: 'reserve', seconds: 60, key: null, room: true };
}

/** Counted back from the newest. */
export function pickSession({ sessions }: ModelAccount, pick: number): ModelSession | undefined {
  return sessions[sessions.length - 1 - (pick % Math.max(1, Math.min(sessions.length, 5)))];
}

export function modelBalance(account: ModelAccount): unknown {
  return {
    availableMs: account.availableMs,
    reservedMs: liveSessions(account).reduce((sum, session) => sum + session.reservedMs, 0),
    consumedMs: account.consumedMs,
    recent: account.sessions
      .slice(-RECENT)
      .toReversed()
      .map((session) => ({
        id: session.id,
        status: session.status,
        audioMs: Math.ceil(session.samples / 16),
        billableMs: session.billableMs,
        over: isOver(session),
      })),
  };
}

function end(
  account: ModelAccount,
  session: ModelSession,
  how: { status: SessionStatus; samples?: number; billableMs?: number },
): void {
  session.status = how.status;
  session.samples = how.samples ?? 0;
  session.billableMs = how.billableMs ?? 0;
  account.availableMs += session.reservedMs - session.billableMs;
  account.consumedMs += session.billableMs;
}

function liveSessions(account: ModelAccount): ModelSession[] {
  return account.sessions.filter((session) => !isOver(session));
}

function isOver(session: ModelSession): boolean {
  return session.status !== 'reserved' && session.status !== 'active';
}
