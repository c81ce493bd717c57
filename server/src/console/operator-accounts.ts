import type { ConsoleErrorCode, OperatorAccountPage } from '@svc-asr/protocol/console.ts';
import { LINE_PATTERN } from '@svc-asr/protocol/text-rules.ts';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { searchAccounts, type Account } from '../accounts/accounts.ts';
import { audited } from './audited.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError } from './console-error.ts';
import { signedInOf } from './guard.ts';
import { queryRows, statement, text } from '../platform/statement.ts';
import { idParam, type IdParam } from './id-param.ts';

const SHOWN = 100;
const SET_STATUS = statement('select set_account_status_as_operator($1, $2, $3) as outcome', {
  outcome: text<'done' | ConsoleErrorCode>(),
});
const Search = Type.Object({
  search: Type.Optional(Type.String({ maxLength: 200, pattern: LINE_PATTERN })),
});

/** Suspension. The database checks that the operator used their passkey within five minutes. */
export function operatorAccountRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get<{ Querystring: { search?: string } }>(
    '/operator/accounts',
    { schema: { querystring: Search } },
    async (request): Promise<OperatorAccountPage> => {
      const search = request.query.search?.trim() ?? '';
      const accounts = await searchAccounts(deps.db, { text: search, limit: SHOWN });
      return { data: accounts.map(presentAccount) };
    },
  );

  for (const [action, status] of [
    ['suspend', 'suspended'],
    ['resume', 'active'],
  ] as const) {
    app.post<IdParam>(
      `/operator/accounts/:id/${action}`,
      { schema: { params: idParam } },
      async (request) => {
        const [row] = await audited(deps.db, request, (db) =>
          queryRows(db, SET_STATUS, [signedInOf(request).token, request.params.id, status]),
        );
        const outcome = row?.outcome ?? 'not_found';
        if (outcome !== 'done') throw new ConsoleError(outcome);
        return {};
      },
    );
  }
}

function presentAccount(account: Account): OperatorAccountPage['data'][number] {
  return {
    id: account.id,
    name: account.name,
    email: account.email,
    status: account.status,
    created_at: account.createdAt.toISOString(),
  };
}
