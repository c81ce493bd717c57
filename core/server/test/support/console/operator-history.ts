import { randomUUID } from 'node:crypto';
import { requestCredit } from '../../../src/accounts/credit-requests.ts';
import { findPersonByEmail } from '../../../src/accounts/people/members.ts';
import { KIKUYU } from '@svc-asr/testing/service/service.ts';
import { activate } from '../activate.ts';
import type { ConsoleService } from './console-service.ts';

/** Asks for credit in the name of amina@example.com. */
export async function askForCredit(service: ConsoleService): Promise<void> {
  const db = service.database.pool;
  const person = await findPersonByEmail(db, 'amina@example.com');
  const { rows } = await db.query<{ id: string }>(
    `select account_id as id from memberships where user_id = $1 and role = 'owner'`,
    [person?.id],
  );
  const message = 'Our radio pilot starts next week. We expect three hours of calls a day.';
  await requestCredit(db, {
    accountId: rows[0]?.id ?? '',
    userId: person?.id ?? '',
    ms: 7_200_000,
    message,
  });
}

/** A new account with a session that a node serves. */
export async function startStream(service: ConsoleService): Promise<void> {
  const accountId = await service.admit(`live-${randomUUID().slice(0, 8)}@example.com`);
  const result = await service.deps.ledger.reserve({
    accountId,
    keyId: null,
    model: KIKUYU,
    idempotencyKey: null,
    requestedMs: 300_000,
    node: { id: service.config.nodeId, url: service.config.publicStreamUrl },
  });
  if (result.outcome !== 'reserved') throw new Error(result.outcome);
  await activate(service, { accountId, sessionId: result.session.id });
}
