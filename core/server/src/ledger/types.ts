import type { ModelId } from '@svc-asr/protocol';

/** Inputs and results of the ledger. */

export type SessionStatus = 'reserved' | 'active' | 'completed' | 'failed' | 'expired';

export interface ReserveInput {
  readonly accountId: string;
  /** The API key's public id. */
  readonly keyId: string | null;
  readonly model: ModelId;
  readonly requestedMs: number;
  readonly idempotencyKey: string | null;
  /** The node and its public URL. Null when no node has capacity. */
  readonly node: { readonly id: string; readonly url: string } | null;
}

export interface ReservedSession {
  readonly id: string;
  readonly accountId: string;
  readonly model: ModelId;
  readonly websocketUrl: string;
  readonly reservedMs: number;
  /** Available right after the reservation. */
  readonly remainingMs: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export type ReserveResult =
  | {
      readonly outcome: 'reserved';
      readonly replayed: boolean;
      readonly session: ReservedSession;
    }
  | {
      readonly outcome: 'concurrency_limit_exceeded';
      readonly blocker: 'reserved' | 'active';
      readonly retryAfterMs: number;
    }
  | { readonly outcome: 'idempotency_conflict' }
  | { readonly outcome: 'insufficient_credits' }
  | { readonly outcome: 'no_capacity' }
  /** The account is moving to another cell. Retry soon. */
  | { readonly outcome: 'account_moving' }
  | { readonly outcome: 'account_inactive' };

export interface ClaimInput {
  readonly sessionId: string;
  readonly accountId: string;
  readonly nodeId: string;
  readonly nodeEpoch: number;
  /** Identifies this upgrade. Repeat it only to retry the same upgrade. Default: a new id. */
  readonly upgradeId?: string;
}

export type ClaimResult =
  | {
      readonly outcome: 'claimed';
      readonly session: {
        readonly id: string;
        readonly accountId: string;
        readonly model: ModelId;
        readonly reservedMs: number;
        /** Null: a browser may stream from any origin. */
        readonly allowedOrigins: readonly string[] | null;
      };
    }
  | { readonly outcome: 'expired' }
  | { readonly outcome: 'used' }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'account_inactive' };

/** A claim that opened no stream. */
export interface GiveBackInput {
  readonly sessionId: string;
  readonly accountId: string;
  readonly upgradeId: string;
}

/** `given_back`: the session is reserved again until its own expiry. `not_claimed`: this upgrade doesn't have it, and never will. */
export type GiveBackResult = 'given_back' | 'not_claimed';

export interface CloseInput {
  readonly sessionId: string;
  readonly accountId: string;
  /** `failed` is our fault and not billed. */
  readonly status: 'completed' | 'failed';
  /** Accepted audio in samples. */
  readonly samples: number;
  readonly nodeId: string;
  readonly nodeEpoch: number;
  /** The upgrade that claimed it. Left out: any upgrade of this node. */
  readonly upgradeId?: string;
  /** The first samples, and the lost session that was charged for them. */
  readonly replayed?: { readonly sessionId: string; readonly samples: number } | null;
  /** The stream lost its client, which may send the last utterances again. */
  readonly lost?: {
    readonly lengths: readonly number[];
    readonly digests: readonly string[];
  } | null;
  /** False: the connection broke, so the client can't know how its session ended. Left out: it was told. */
  readonly isTold?: boolean;
}

/**
 * `superseded`: another upgrade claimed the session, and its stream goes on. `settled_late`: the sweeper had failed the
 * session because its node seemed dead; the accepted audio is charged as far as credit is available.
 */
export type CloseResult = 'closed' | 'already' | 'superseded' | 'settled_late';

export interface Balance {
  readonly availableMs: number;
  readonly reservedMs: number;
  readonly consumedMs: number;
  /** Newest first, at most twenty, live ones included. */
  readonly recentSessions: readonly UsageRecord[];
}

export interface UsageRecord {
  readonly id: string;
  readonly model: ModelId;
  readonly status: SessionStatus;
  readonly reservedMs: number;
  readonly audioMs: number;
  readonly billableMs: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly completedAt: Date | null;
}

export interface CreditInput {
  readonly accountId: string;
  /** Positive for a grant; an adjustment may be negative. Never zero. */
  readonly ms: number;
  readonly reason: string;
  /** The actor. */
  readonly actor: string;
  /** A UUID from the caller. A repeated id is applied once. */
  readonly id: string;
}

export type CreditResult =
  | {
      readonly outcome: 'posted';
      readonly replayed: boolean;
      readonly seq: number;
      readonly availableMs: number;
    }
  | { readonly outcome: 'unknown_account' }
  /** The id was used for another amount or reason. */
  | { readonly outcome: 'request_conflict' }
  | { readonly outcome: 'insufficient_credits'; readonly availableMs: number };

export interface SweepOptions {
  /** At most this many sessions of each kind in one call. */
  readonly batch?: number;
}

export interface SweepResult {
  readonly expired: number;
  readonly failed: number;
  /** How much longer expired leases are ignored, because the database was unavailable recently. */
  readonly quietMs: number;
  /** A batch was full, so sweep again without waiting. */
  readonly more: boolean;
}
