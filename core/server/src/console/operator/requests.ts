import { CONSOLE_LIMITS, type ConsoleErrorCode } from '@svc-asr/protocol/console/console.ts';
import {
  DecideRequest,
  OperatorRequestQuery,
  type OperatorRequestPage,
} from '@svc-asr/protocol/console/credit.ts';
import type { FastifyInstance } from 'fastify';
import { figuresOf } from '../../accounts/account-figures.ts';
import { listCreditRequests } from '../../accounts/credit-requests.ts';
import { statement, t } from '../../platform/database/statement.ts';
import type { ConsoleDeps } from '../deps.ts';
import { presentRequest } from '../account/credit-requests.ts';
import { idParam, type IdParam, nextOf } from '../request/params.ts';
import { mustChangeAsOperator } from './change.ts';

const DECIDE = statement('select decide_credit_request_as_operator($1, $2, $3, $4) as outcome', {
  outcome: t.text<'done' | ConsoleErrorCode>(),
});

/** Requests for credit. The owners of the account get an email about the decision. */
export function operatorRequestRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get<{ Querystring: OperatorRequestQuery }>(
    '/operator/requests',
    { schema: { querystring: OperatorRequestQuery } },
    async (request): Promise<OperatorRequestPage> => {
      const { status = 'open', after = null } = request.query;
      const limit = CONSOLE_LIMITS.operatorRowsPerPage;
      const found = await listCreditRequests(deps.db, { status, after, limit: limit + 1 });
      const shown = found.slice(0, limit);
      const accounts = [...new Set(shown.map((row) => row.account_id))];
      const figures = await figuresOf(deps.db, accounts);
      return {
        data: shown.map((row) => ({
          ...presentRequest(row),
          account_id: row.account_id,
          account_name: row.account_name,
          requested_by: row.requested_by,
          available_ms: row.available_ms,
          week_ms: figures.get(row.account_id)?.weekMs ?? 0,
        })),
        next: nextOf(found, limit),
      };
    },
  );

  app.post<IdParam & { Body: DecideRequest }>(
    '/operator/requests/:id/decide',
    { schema: { params: idParam, body: DecideRequest } },
    (request) => {
      const { minutes, reason } = request.body;
      const ms = minutes === null ? null : minutes * 60_000;
      const values = [request.params.id, ms, reason];
      return mustChangeAsOperator(deps, request, { statement: DECIDE, values });
    },
  );
}
