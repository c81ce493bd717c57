import { randomUUID } from 'node:crypto';
import { createAccount } from '@svc-asr/server/accounts/accounts.ts';
import { generateApiKey, hashApiKey } from '@svc-asr/server/accounts/keys/format.ts';
import { insertApiKey, type ApiKeyRecord } from '@svc-asr/server/accounts/keys/api-keys.ts';
import type { Queryable } from '@svc-asr/server/platform/database/db.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';

/** An account and a live API key of it. */
export interface Tenant {
  readonly accountId: string;
  readonly apiKey: string;
  readonly keyId: string;
}

/** Creates an account with credit, as an operator would. */
export async function createFundedAccount(
  db: Queryable,
  input: { creditMs: number; name?: string; id?: string },
): Promise<string> {
  const { name = 'Test account', id } = input;
  const accountId = await createAccount(db, id === undefined ? { name } : { name, id });
  if (input.creditMs > 0) {
    await createLedger(db).grant({
      accountId,
      ms: input.creditMs,
      reason: 'trial credit',
      actor: 'test',
      id: randomUUID(),
    });
  }
  return accountId;
}

/** Creates an API key of an account. */
export async function createKey(
  db: Queryable,
  input: {
    accountId: string;
    pepper: Buffer;
    cell?: string;
    rules?: Partial<Pick<ApiKeyRecord, 'scopes' | 'expiresAt' | 'name'>> & { pepperId?: number };
  },
): Promise<Tenant> {
  const { accountId, pepper, rules = {} } = input;
  const { key, publicId } = generateApiKey(input.cell);
  const hmac = hashApiKey(key, pepper);
  await insertApiKey(db, { id: publicId, accountId, hmac, ...rules });
  return { accountId, apiKey: key, keyId: publicId };
}

/** Creates an account with credit and an API key. */
export async function createAccountWithKey(
  db: Queryable,
  input: Parameters<typeof createFundedAccount>[1] &
    Omit<Parameters<typeof createKey>[1], 'accountId'>,
): Promise<Tenant> {
  const accountId = await createFundedAccount(db, input);
  return createKey(db, { ...input, accountId });
}
