import type { ModelId } from '@svc-asr/protocol';
import type { Authenticator } from './http/authenticator.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Credentials } from './credentials.ts';

import type { Pool } from './db.ts';
import type { FailingAccounts } from './failing-accounts.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { RateLimiter } from './rate-limit.ts';

/** Where a session will stream. */
export interface PlacedNode {
  readonly id: string;
  readonly url: string;
}

export interface Placement {
  /** Answers from memory: a reservation waits for nothing but its own round trip. Null when no node has room. */
  choose(model: ModelId): PlacedNode | null;
}

/** Whether this process takes new work. */
export interface Lifecycle {
  /** Set once, on the way out. */
  draining: boolean;
  /** What else must hold for it to be ready. */
  readonly checks: (() => boolean)[];
}

/** Everything that a part may need, made in server.ts and passed by hand. */
export interface Deps {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly db: Pool;
  readonly ledger: Ledger;
  readonly authenticator: Authenticator;
  readonly credentials: Credentials;
  readonly placement: Placement;
  readonly failing: Pick<FailingAccounts, 'refusedForMs'>;
  readonly metrics: Metrics;
  readonly lifecycle: Lifecycle;
  readonly limiters: Readonly<Record<keyof Config['rates'], RateLimiter>>;
}
