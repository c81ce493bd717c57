import type { Tracing } from '@svc-asr/runtime/tracing.ts';
import type { ModelId } from '@svc-asr/protocol';
import type { CallLog } from './accounts/logs/call-log.ts';
import type { Authenticator } from './accounts/keys/authenticator.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './config.ts';
import type { Credentials } from './sessions/credentials.ts';
import type { Pool } from './platform/database/db.ts';
import type { HistoryGuard } from './ledger/history-guard.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Log } from './platform/observe/log.ts';
import type { Metrics } from './platform/observe/metrics.ts';
import type { RateLimiter } from './platform/network/rate-limit.ts';

/** The node that a session will stream to. */
export interface PlacedNode {
  readonly id: string;
  readonly url: string;
}

export interface Placement {
  /** Chooses from memory, so that a reservation takes one database round trip. Null when no node has capacity. */
  choose(model: ModelId, lost?: LostNode | null): PlacedNode | null;
}

/** A caller's report that a node doesn't answer. */
export interface LostNode {
  /** Name and port of the node's URL. */
  readonly host: string;
  readonly accountId: string;
}

/** Whether this process accepts new work. */
export interface Lifecycle {
  /** Set once, when shutdown begins. */
  draining: boolean;
  /** When streams that are still open will be ended, on the monotonic clock. Null until the process drains. */
  drainDeadlineAtMs: number | null;
  /** Further conditions for readiness. */
  readonly checks: (() => boolean)[];
  /** What doesn't work although the process is ready, for operators. Fixed sentences that anyone may read. */
  readonly warnings: string[];
}

/** Shared dependencies, created in server.ts and passed explicitly. */
export interface Deps {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly db: Pool;
  readonly ledger: Ledger;
  /** Every connection pool uses it to verify new connections. */
  readonly history: HistoryGuard;
  readonly authenticator: Authenticator;
  readonly credentials: Credentials;
  readonly placement: Placement;
  readonly metrics: Metrics;
  /** Calls for the Log page of their account. */
  readonly calls: CallLog;
  readonly lifecycle: Lifecycle;
  /** Null: traces are off. */
  readonly tracing: Tracing | null;
  readonly limiters: Readonly<Record<keyof Config['limits']['rates'], RateLimiter>>;
}
