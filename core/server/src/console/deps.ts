import type { Deps } from '../deps.ts';
import type { Pool } from '../platform/database/db.ts';
import type { RateLimiter } from '../platform/network/rate-limit.ts';
import type { Downloads } from './request/downloads.ts';
import type { Mailer } from './email/mailer.ts';
import type { Outbox } from './email/outbox.ts';

/** Shared by the console's routes. */
export interface ConsoleDeps {
  readonly service: Deps;
  /** With the rights of svc_console. */
  readonly db: Pool;
  /** With the rights of svc_sign_in: codes, passkeys and new sessions. */
  readonly signInDb: Pool;
  readonly mailer: Mailer | null;
  readonly outbox: Outbox | null;
  /** Keys for the hashes of codes and addresses. The first one is current; codes hashed with the others still work. */
  readonly secrets: readonly Buffer[];
  readonly publicUrl: string;
  /** Rate limit on requests of signed-in people, per person. */
  readonly requests: RateLimiter;
  readonly downloads: Downloads;
}
