import { findAccount, type Account } from '../../accounts/accounts.ts';
import type { Pool } from '../../platform/database/db.ts';
import type { AdminContext, RunCommand } from '../context.ts';
import type { Row } from '../output.ts';
import { accountOf } from '../short-id.ts';

/** Changes an account and shows it. */
export function changeAccount(
  run: RunCommand,
  shortId: string,
  change: (db: Pool, id: string) => Promise<unknown>,
): Promise<void> {
  return run(async (context) => {
    const { id } = await accountOf(context.db, shortId);
    await change(context.db, id);
    await showAccount(context, id);
  });
}

/** Shows an account as it is now. */
export async function showAccount({ db, output }: AdminContext, id: string): Promise<void> {
  const account = await findAccount(db, id);
  if (account !== null) output.show(present(account));
}

export function present(account: Account): Row {
  return {
    id: account.id,
    name: account.name,
    email: account.email,
    status: account.status,
    move: account.move,
    concurrency: account.concurrencyLimit,
    key_limit: account.keyLimit,
    allowed_origins: account.allowedOrigins,
    available_ms: account.availableMs,
    reserved_ms: account.reservedMs,
    consumed_ms: account.consumedMs,
    granted_ms: account.grantedMs,
    created_at: account.createdAt,
  };
}
