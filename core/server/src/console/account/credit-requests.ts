import {
  RequestCredit,
  type CreditRequest,
  type CreditRequestList,
} from '@svc-asr/protocol/console/credit.ts';
import type { FastifyInstance } from 'fastify';
import { findAccount } from '../../accounts/accounts.ts';
import {
  listCreditRequestsOf,
  requestCredit,
  type CreditRequestRow,
} from '../../accounts/credit-requests.ts';
import { audited, memberOf, requireOwner } from '../request/guard.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';

const SHOWN = 20;

/** Requests of an account for credit. Its owners ask, and everybody in it sees the answers. */
export function creditRequestRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get('/credit-requests', async (request): Promise<CreditRequestList> => {
    const { accountId } = memberOf(request);
    const [account, requests] = await Promise.all([
      findAccount(deps.db, accountId),
      listCreditRequestsOf(deps.db, { accountId, limit: SHOWN }),
    ]);
    return { available_ms: account?.availableMs ?? 0, data: requests.map(presentRequest) };
  });

  app.post<{ Body: RequestCredit }>(
    '/credit-requests',
    { onRequest: requireOwner, schema: { body: RequestCredit } },
    async (request, reply) => {
      const { accountId, userId } = memberOf(request);
      const { minutes, message } = request.body;
      const outcome = await audited(deps.db, request, (db) =>
        requestCredit(db, { accountId, userId, ms: minutes * 60_000, message }),
      );
      if (outcome !== 'requested') throw new ConsoleError(outcome);
      void reply.code(201);
      return {};
    },
  );
}

export function presentRequest(row: CreditRequestRow): CreditRequest {
  return {
    id: row.id,
    requested_at: row.requested_at.toISOString(),
    requested_ms: row.requested_ms,
    message: row.message,
    status: row.status,
    decided_at: row.decided_at?.toISOString() ?? null,
    granted_ms: row.granted_ms,
    reply: row.reply,
  };
}
