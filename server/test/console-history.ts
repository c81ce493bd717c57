import { MODEL_IDS, type ModelId } from '@svc-asr/protocol';
import { insertApiKey } from '../src/accounts/api-keys.ts';
import { generateApiKey, hashApiKey } from '../src/api-key-format.ts';
import { registerNode } from '../src/nodes.ts';
import type { ConsoleService } from './console-service.ts';

const NODE = 'node-of-the-past';

/** Gives an account sessions of every kind, two keys and a colleague, through the ledger's own steps. */
export async function fillAccount(service: ConsoleService, accountId: string): Promise<void> {
  const db = service.database.pool;
  const nodeEpoch = await registerNode(db, {
    id: NODE,
    publicUrl: 'wss://past.example.com/v1/asr/stream',
    models: MODEL_IDS,
    capacity: 10,
  });
  const spoken: [ModelId, number, 'completed' | 'failed'][] = [
    ['svc-asr-kikuyu-v1', 41.3, 'completed'],
    ['svc-asr-dholuo-v1', 12, 'completed'],
    ['svc-asr-kikuyu-v1', 7.5, 'failed'],
    ['svc-asr-kikuyu-v1', 0, 'completed'],
    ['svc-asr-dholuo-v1', 60, 'completed'],
  ];
  for (const [model, seconds, status] of spoken) {
    const node = { id: NODE, url: 'wss://past.example.com/v1/asr/stream' };
    const request = { accountId, keyId: null, model, requestedMs: 60_000, idempotencyKey: null };
    const result = await service.deps.ledger.reserve({ ...request, node });
    if (result.outcome !== 'reserved') throw new Error(result.outcome);
    const claim = { sessionId: result.session.id, accountId, nodeId: NODE, nodeEpoch };
    await service.deps.ledger.claim(claim);
    await service.deps.ledger.close({ ...claim, status, samples: seconds * 16_000 });
  }
  await addOlderDays(service, accountId);
  for (const name of ['phone line', 'production server']) {
    const { key, publicId } = generateApiKey();
    const hmac = hashApiKey(key, service.config.apiKeyPepper);
    await insertApiKey(db, { id: publicId, accountId, hmac, name });
  }
  await db.query(
    `insert into console_users (id, account_id, email, role, welcomed_at)
      values (gen_random_uuid(), $1, $2, 'member', clock_timestamp())`,
    [accountId, `colleague-of-${accountId.slice(0, 8)}@example.com`],
  );
}

/** Days that a test cannot wait for. */
async function addOlderDays(service: ConsoleService, accountId: string): Promise<void> {
  await service.database.pool.query(
    `insert into usage_days (account_id, day, model, billable_ms, sessions)
      select $1, (clock_timestamp() at time zone 'UTC')::date - ago, model,
        (20 + (ago * 37 + length(model) * 11) % 90) * 1000 * (1 + (ago % 5)), 1 + ago % 4
      from generate_series(1, 29) ago, unnest($2::text[]) model
      where (ago + length(model)) % 7 <> 0`,
    [accountId, MODEL_IDS],
  );
}
