import { randomUUID } from 'node:crypto';
import { createAccount } from '../src/accounts/accounts.ts';
import type { Queryable } from '../src/db.ts';
import { createLedger } from '../src/ledger/ledger.ts';

/** An account with credit, made as an operator would. */
export async function fundedAccount(
  db: Queryable,
  input: { creditMs: number; name?: string },
): Promise<string> {
  const accountId = await createAccount(db, { name: input.name ?? 'Test account' });
  if (input.creditMs > 0) {
    await createLedger(db).grant({
      accountId,
      ms: input.creditMs,
      reason: 'credit for a test',
      actor: 'test',
      id: randomUUID(),
    });
  }
  return accountId;
}
