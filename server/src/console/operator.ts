import { randomUUID } from 'node:crypto';
import { Approve, type ConsoleErrorCode, type WaitlistPage } from '@svc-asr/protocol/console.ts';
import type { FastifyInstance } from 'fastify';
import { listWaitlist, type WaitlistEntry } from '../accounts/waitlist.ts';
import { audited } from './audited.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError } from './console-error.ts';
import { requireOperator, signedInOf } from './guard.ts';
import { idParam, type IdParam } from './id-param.ts';
import { operatorAccountRoutes } from './operator-accounts.ts';
import { queryRows, statement, text } from '../platform/statement.ts';

const SHOWN = 100;
const APPROVE = statement('select approve_as_operator($1, $2, $3, $4) as outcome', {
  outcome: text<'approved' | ConsoleErrorCode>(),
});
const DECLINE = statement('select decline_as_operator($1, $2) as outcome', {
  outcome: text<'declined' | ConsoleErrorCode>(),
});

/** The waitlist and accounts, for operators who signed in with a passkey. The database checks both again. */
export function operatorRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.addHook('onRequest', requireOperator);
  operatorAccountRoutes(app, deps);

  app.get('/operator/waitlist', async (): Promise<WaitlistPage> => {
    const statuses = ['waiting', 'approved', 'declined'] as const;
    const lists = await Promise.all(
      statuses.map((status) => listWaitlist(deps.db, { status, limit: SHOWN })),
    );
    return { data: lists.flat().map(presentEntry) };
  });

  app.post<IdParam & { Body: { credit_minutes: number } }>(
    '/operator/waitlist/:id/approve',
    { schema: { params: idParam, body: Approve } },
    async (request) => {
      const [row] = await audited(deps.db, request, (db) =>
        queryRows(db, APPROVE, [
          signedInOf(request).token,
          request.params.id,
          randomUUID(),
          request.body.credit_minutes * 60_000,
        ]),
      );
      const outcome = row?.outcome ?? 'not_found';
      if (outcome !== 'approved') throw new ConsoleError(outcome);
      return {};
    },
  );

  app.post<IdParam>(
    '/operator/waitlist/:id/decline',
    { schema: { params: idParam } },
    async (request) => {
      const [row] = await audited(deps.db, request, (db) =>
        queryRows(db, DECLINE, [signedInOf(request).token, request.params.id]),
      );
      const outcome = row?.outcome ?? 'not_found';
      if (outcome !== 'declined') throw new ConsoleError(outcome);
      return {};
    },
  );
}

function presentEntry(entry: WaitlistEntry): WaitlistPage['data'][number] {
  return {
    id: entry.id,
    email: entry.email,
    use_case: entry.purpose,
    status: entry.status,
    joined_at: entry.createdAt.toISOString(),
  };
}
