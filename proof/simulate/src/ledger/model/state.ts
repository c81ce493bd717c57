import type { SessionStatus } from '@svc-asr/server/ledger/ledger.ts';

/** The rows of the ledger's tables. Times are milliseconds of the database's clock. */

export interface AccountRow {
  readonly id: string;
  status: 'active' | 'suspended';
  concurrencyLimit: number;
  limitChangedAt: number;
  allowedOrigins: readonly string[] | null;
  grantedMs: number;
  availableMs: number;
  reservedMs: number;
  consumedMs: number;
  lastSeq: number;
  moveState: 'moving' | 'sealed' | null;
  moveId: string | null;
  moveCell: string | null;
}

export interface SessionRow {
  readonly accountId: string;
  readonly id: string;
  readonly keyId: string | null;
  readonly model: string;
  status: SessionStatus;
  slot: number | null;
  readonly reservedMs: number;
  readonly remainingMs: number;
  readonly websocketUrl: string;
  nodeId: string;
  nodeEpoch: number | null;
  upgradeId: string | null;
  samples: number;
  audioMs: number;
  billableMs: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  claimedAt: number | null;
  completedAt: number | null;
  sweptAt: number | null;
  /** The lost session that was charged for the first samples. */
  continues: string | null;
  replayedSamples: number | null;
}

export type TxnKind =
  | 'grant'
  | 'adjust'
  | 'reserve'
  | 'complete'
  | 'fail'
  | 'expire'
  | 'settle_late';

export interface TxnRow {
  readonly accountId: string;
  readonly seq: number;
  readonly kind: TxnKind;
  readonly sessionId: string | null;
  readonly requestId: string | null;
  readonly reason: string | null;
  readonly availableMs: number;
  readonly reservedMs: number;
  readonly consumedMs: number;
  readonly availableAfterMs: number;
  readonly createdAt: number;
}

interface ClaimRow {
  readonly accountId: string;
  readonly sessionId: string;
  readonly upgradeId: string;
  readonly nodeId: string;
  readonly nodeEpoch: number;
  readonly claimedAt: number;
}

interface GivenBackRow {
  readonly accountId: string;
  readonly sessionId: string;
  readonly upgradeId: string;
  readonly givenBackAt: number;
}

interface IdempotencyRow {
  readonly accountId: string;
  readonly keyHash: string;
  readonly requestHash: string;
  readonly sessionId: string;
  readonly expiresAt: number;
}

interface LostAudioRow {
  readonly accountId: string;
  readonly sessionId: string;
  readonly lengths: readonly number[];
  readonly digests: readonly string[];
  readonly lostAt: number;
}

interface TakeoverRow {
  readonly sessionId: string;
  readonly accountId: string;
  readonly proof: string;
  readonly requestedAt: number;
}

export interface NodeRow {
  readonly id: string;
  epoch: number;
  publicUrl: string;
  models: readonly string[];
  capacity: number;
  active: number;
  draining: boolean;
  startedAt: number;
  renewedAt: number;
  leaseUntil: number;
  retiredAt: number | null;
}

interface MarkRow {
  readonly processId: string;
  readonly nodeId: string;
  position: number;
  markedAt: number;
  refusedAt: number | null;
  acceptedAt: number | null;
}

interface LiveAudioRow {
  readonly nodeId: string;
  readonly nodeEpoch: number;
  readonly samples: ReadonlyMap<string, number>;
}

export interface LedgerState {
  readonly accounts: Map<string, AccountRow>;
  /** By session id. Ids are unique across accounts. */
  readonly sessions: Map<string, SessionRow>;
  /** The reserved and active ones of `sessions`. */
  readonly live: Map<string, SessionRow>;
  /** The lost sessions that others continue. */
  readonly continued: Set<string>;
  /** The same by account. */
  readonly liveOf: Map<string, Set<SessionRow>>;
  readonly txns: TxnRow[];
  readonly claims: Map<string, ClaimRow>;
  /** By session and upgrade. */
  readonly givenBack: Map<string, GivenBackRow>;
  /** By account and key hash. */
  readonly idempotency: Map<string, IdempotencyRow>;
  readonly nodes: Map<string, NodeRow>;
  readonly marks: Map<string, MarkRow>;
  /** When the end of a session was requested, by session. */
  readonly endRequests: Map<string, number>;
  readonly liveAudio: Map<string, LiveAudioRow>;
  /** By session. */
  readonly lostAudio: Map<string, LostAudioRow>;
  /** By session. */
  readonly takeovers: Map<string, TakeoverRow>;
  /** Sessions whose stream was described by its node. */
  readonly described: Set<string>;
  watch: { lastTickAt: number; quietUntil: number };
}

/** A migrated database without rows. */
export function emptyLedger(): LedgerState {
  return {
    accounts: new Map(),
    sessions: new Map(),
    live: new Map(),
    continued: new Set(),
    liveOf: new Map(),
    txns: [],
    claims: new Map(),
    givenBack: new Map(),
    idempotency: new Map(),
    nodes: new Map(),
    marks: new Map(),
    endRequests: new Map(),
    liveAudio: new Map(),
    lostAudio: new Map(),
    takeovers: new Map(),
    described: new Set(),
    watch: { lastTickAt: -Infinity, quietUntil: -Infinity },
  };
}

/** A call at one moment of the database's clock. */
export interface Moment {
  readonly state: LedgerState;
  readonly nowMs: number;
  /** When the database was started. */
  readonly startedAtMs: number;
}

export function sessionOf(
  { sessions }: LedgerState,
  accountId: string,
  sessionId: string,
): SessionRow | undefined {
  const session = sessions.get(sessionId);
  return session?.accountId === accountId ? session : undefined;
}
