import { setConcurrency } from '@svc-asr/server/accounts/accounts.ts';
import type { Config } from '@svc-asr/server/config.ts';
import { createPool } from '@svc-asr/server/platform/database/db.ts';
import { createAccountWithKey } from '@svc-asr/local/account-with-key.ts';

/** Creates the account that the emulator's user works with. Returns its API key. */
export async function createEmulatorAccount(
  config: Config,
  options: { creditMs: number; concurrency: number },
): Promise<string> {
  const db = createPool({ url: config.database.url });
  try {
    const { creditMs, concurrency } = options;
    const { accountId, apiKey } = await createAccountWithKey(db, {
      name: 'Emulator',
      creditMs,
      pepper: config.secrets.apiKeyPeppers[0].secret,
    });
    await setConcurrency(db, { id: accountId, limit: concurrency });
    return apiKey;
  } finally {
    await db.end();
  }
}
