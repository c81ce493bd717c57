import { MODEL_IDS, type ModelId } from '@svc-asr/protocol';
import { revokeApiKey } from '../../../src/accounts/keys/api-keys.ts';
import { createKey } from '@svc-asr/local/account-with-key.ts';
import { addMember } from '../../../src/accounts/people/members.ts';
import { inTransaction } from '../../../src/platform/database/db.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { registerNode } from '../../../src/nodes/nodes.ts';
import type { ConsoleService } from './console-service.ts';

const NODE = { id: 'node-of-the-past', url: 'wss://past.example.com/v1/asr/stream' };

interface Spoken {
  readonly daysAgo: number;
  readonly model: ModelId;
  readonly seconds: number;
  readonly status: 'completed' | 'failed';
}

/**
 * Gives an account a month of sessions of every kind, three keys and two colleagues, through the
 * ledger's own functions.
 */
export async function fillAccount(service: ConsoleService, accountId: string): Promise<void> {
  const db = service.database.pool;
  const credit = { ms: 3 * 3_600_000, reason: 'test', actor: 'test', id: crypto.randomUUID() };
  await createLedger(db).grant({ accountId, ...credit });
  const nodeEpoch = await registerNode(db, {
    id: NODE.id,
    publicUrl: NODE.url,
    models: MODEL_IDS,
    capacity: 10,
  });
  const pepper = service.config.secrets.apiKeyPeppers[0].secret;
  let keyId = '';
  for (const name of ['old server', 'phone line', 'production server']) {
    ({ keyId } = await createKey(db, { accountId, pepper, rules: { name } }));
    if (name === 'old server') await revokeApiKey(db, { accountId, id: keyId });
  }
  for (const spoken of aMonthOfSessions()) {
    await speak(service, { accountId, nodeEpoch, keyId, spoken });
  }
  for (const email of ['njoroge@example.com', 'achieng@example.com']) {
    await addMember(db, { accountId, email, role: 'member', language: 'en' });
  }
  // As old as its sessions, so that its first steps are done.
  await inTransaction(db, async (owner) => {
    await owner.query('set local session_replication_role = replica');
    await owner.query(
      `update accounts set created_at = created_at - interval '31 days' where id = $1`,
      [accountId],
    );
  });
}

function aMonthOfSessions(): Spoken[] {
  const older = Array.from({ length: 29 }, (_, at) => 29 - at).flatMap((daysAgo) =>
    MODEL_IDS.map((model, at) => ({
      daysAgo,
      model,
      seconds: 20 + ((daysAgo * 37 + at * 53) % 90) * (1 + (daysAgo % 3)),
      status: 'completed' as const,
    })),
  );
  const [kikuyu, dholuo] = MODEL_IDS;
  return [
    ...older.filter(({ daysAgo, model }) => (daysAgo + model.length) % 7 !== 0),
    { daysAgo: 0.3, model: kikuyu, seconds: 41.3, status: 'completed' },
    { daysAgo: 0.2, model: dholuo, seconds: 12, status: 'completed' },
    { daysAgo: 0.1, model: kikuyu, seconds: 7.5, status: 'failed' },
    { daysAgo: 0.05, model: kikuyu, seconds: 0, status: 'completed' },
    { daysAgo: 0.01, model: dholuo, seconds: 300, status: 'completed' },
  ];
}

async function speak(
  service: ConsoleService,
  input: { accountId: string; nodeEpoch: number; keyId: string; spoken: Spoken },
): Promise<void> {
  const { accountId, nodeEpoch, keyId, spoken } = input;
  const { ledger } = service.deps;
  const request = { accountId, keyId, model: spoken.model, idempotencyKey: null };
  const result = await ledger.reserve({ ...request, requestedMs: 300_000, node: NODE });
  if (result.outcome !== 'reserved') throw new Error(result.outcome);
  const claim = { sessionId: result.session.id, accountId, nodeId: NODE.id, nodeEpoch };
  await ledger.claim(claim);
  await ledger.close({ ...claim, status: spoken.status, samples: spoken.seconds * 16_000 });
  await moveBack(service, { sessionId: claim.sessionId, days: spoken.daysAgo });
}

/** Backdates rows. Only the schema's owner can do this, with the guards off. */
async function moveBack(
  service: ConsoleService,
  input: { sessionId: string; days: number },
): Promise<void> {
  await inTransaction(service.database.pool, async (db) => {
    await db.query('set local session_replication_role = replica');
    const back = `- $2 * interval '1 day'`;
    await db.query(
      `update sessions set created_at = created_at ${back}, expires_at = expires_at ${back},
        claimed_at = claimed_at ${back}, completed_at = completed_at ${back} where id = $1`,
      [input.sessionId, input.days],
    );
    await db.query(`update txn set created_at = created_at ${back} where session_id = $1`, [
      input.sessionId,
      input.days,
    ]);
  });
}
