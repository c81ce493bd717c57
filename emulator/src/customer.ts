import { randomUUID } from 'node:crypto';
import { createAccount, setConcurrency } from '@svc-asr/server/accounts/accounts.ts';
import { insertApiKey } from '@svc-asr/server/accounts/api-keys.ts';
import { generateApiKey, hashApiKey } from '@svc-asr/server/api-key-format.ts';
import type { Config } from '@svc-asr/server/config.ts';
import { createPool } from '@svc-asr/server/db.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';

/** An account with credit and a key, made as an operator would. Gives the key. */
export async function createCustomer(
  config: Config,
  wish: { creditMs: number; concurrency: number },
): Promise<string> {
  const db = createPool({ url: config.databaseUrl });
  try {
    const accountId = await createAccount(db, { name: 'Emulator' });
    await setConcurrency(db, { id: accountId, limit: wish.concurrency });
    if (wish.creditMs > 0) {
      await createLedger(db).grant({
        accountId,
        ms: wish.creditMs,
        reason: 'credit for the emulator',
        actor: 'svc-emulator',
        id: randomUUID(),
      });
    }
    const { key, publicId } = generateApiKey();
    await insertApiKey(db, { id: publicId, accountId, hmac: hashApiKey(key, config.apiKeyPepper) });
    return key;
  } finally {
    await db.end();
  }
}
