import type { Deps } from '../deps.ts';
import type { Pool } from '../db.ts';
import type { RateLimiter } from '../rate-limit.ts';
import type { Mailer } from './mailer.ts';
import type { Outbox } from './outbox.ts';

/** What the console's routes share. `db` has the rights of svc_console and no more. */
export interface ConsoleDeps {
  readonly service: Deps;
  readonly db: Pool;
  readonly mailer: Mailer | null;
  readonly outbox: Outbox | null;
  /** Keys the hashes of codes and addresses. */
  readonly secret: Buffer;
  readonly publicUrl: string;
  /** Everything that a signed-in person asks for, by person. */
  readonly requests: RateLimiter;
}
