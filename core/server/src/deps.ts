import type { Tracing } from '@svc-asr/runtime/tracing.ts';
import type { CallLog } from './accounts/logs/call-log.ts';
import type { Authenticator } from './accounts/keys/authenticator.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './config.ts';
import type { Credentials } from './sessions/credentials.ts';
import type { Placement } from './sessions/placement.ts';
import type { Pool } from './platform/database/db.ts';
import type { HistoryGuard } from './ledger/history-guard.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Lifecycle } from './platform/lifecycle.ts';
import type { Log } from './platform/observe/log.ts';
import type { Metrics } from './platform/observe/metrics.ts';
import type { RateLimiter } from './platform/network/rate-limit.ts';

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
