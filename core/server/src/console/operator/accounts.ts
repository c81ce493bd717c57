import { CONSOLE_LIMITS, type ConsoleErrorCode } from '@svc-asr/protocol/console/console.ts';
import { causeOf, outcomeOf } from '@svc-asr/protocol/console/outcome.ts';
import {
  ChangeStatus,
  GrantCredit,
  OperatorAccountQuery,
  SetConcurrency,
  type OperatorAccount,
  type OperatorAccountPage,
  type OperatorAccountReport,
} from '@svc-asr/protocol/console/operator.ts';
import type { FastifyInstance } from 'fastify';
import { figuresOf } from '../../accounts/account-figures.ts';
import { searchAccounts, type Account } from '../../accounts/accounts.ts';
import { listSessionsOf } from '../../ledger/reports/session-list.ts';
import { databaseTime } from '../../platform/database/time.ts';
import { statement, t } from '../../platform/database/statement.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { idParam, type IdParam, nextOf } from '../request/params.ts';
import { mustChangeAsOperator } from './change.ts';

const SESSIONS_SHOWN = 20;

const outcome = { outcome: t.text<'done' | ConsoleErrorCode>() };
const SET_STATUS = statement(
  'select set_account_status_as_operator($1, $2, $3, $4) as outcome',
  outcome,
);
const SET_CONCURRENCY = statement(
  'select set_concurrency_as_operator($1, $2, $3, $4) as outcome',
  outcome,
);
const GRANT = statement('select grant_as_operator($1, $2, $3, $4, $5) as outcome', outcome);

/** Accounts with their balance, use and failures. Every change has a reason and needs a recent use of the passkey. */
export function operatorAccountRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get<{ Querystring: OperatorAccountQuery }>(
    '/operator/accounts',
    { schema: { querystring: OperatorAccountQuery } },
    async (request): Promise<OperatorAccountPage> => {
      const { search = '', after = null } = request.query;
      const limit = CONSOLE_LIMITS.operatorRowsPerPage;
      const text = search.trim();
      const found = await searchAccounts(deps.db, { text, after, limit: limit + 1 });
      return {
        data: await withFigures(deps, found.slice(0, limit)),
        next: nextOf(found, limit),
      };
    },
  );

  app.get<IdParam>(
    '/operator/accounts/:id',
    { schema: { params: idParam } },
    async (request): Promise<OperatorAccountReport> => {
      const { id } = request.params;
      const [account] = await withFigures(
        deps,
        await searchAccounts(deps.db, { text: id, limit: 1 }),
      );
      if (account?.id !== id) throw new ConsoleError('not_found');
      const filter = { accountId: id, from: null, until: null, model: null, keyId: null };
      const { sessions } = await listSessionsOf(
        deps.db,
        { ...filter, outcomes: null, origin: null },
        { before: null, limit: SESSIONS_SHOWN },
      );
      return {
        account,
        sessions: sessions.map((session) => ({
          id: session.id,
          model: session.model,
          outcome: outcomeOf(session),
          created_at: session.created_at.toISOString(),
          audio_ms: session.audio_ms,
          billable_ms: session.billable_ms,
          cause: causeOf({ ...session, isOpened: session.is_opened }) ?? session.close_reason,
        })),
        now: (await databaseTime(deps.db)).toISOString(),
      };
    },
  );
  operatorAccountChanges(app, deps);
}

function operatorAccountChanges(app: FastifyInstance, deps: ConsoleDeps): void {
  for (const [action, status] of [
    ['suspend', 'suspended'],
    ['resume', 'active'],
  ] as const) {
    app.post<IdParam & { Body: ChangeStatus }>(
      `/operator/accounts/:id/${action}`,
      { schema: { params: idParam, body: ChangeStatus } },
      (request) =>
        mustChangeAsOperator(deps, request, {
          statement: SET_STATUS,
          values: [request.params.id, status, request.body.reason],
        }),
    );
  }

  app.post<IdParam & { Body: SetConcurrency }>(
    '/operator/accounts/:id/concurrency',
    { schema: { params: idParam, body: SetConcurrency } },
    (request) =>
      mustChangeAsOperator(deps, request, {
        statement: SET_CONCURRENCY,
        values: [request.params.id, request.body.limit, request.body.reason],
      }),
  );

  app.post<IdParam & { Body: GrantCredit }>(
    '/operator/accounts/:id/grant',
    { schema: { params: idParam, body: GrantCredit } },
    (request) => {
      const { id, minutes, reason } = request.body;
      const values = [request.params.id, minutes * 60_000, reason, id];
      return mustChangeAsOperator(deps, request, { statement: GRANT, values });
    },
  );
}

async function withFigures(
  { db }: ConsoleDeps,
  accounts: readonly Account[],
): Promise<OperatorAccount[]> {
  const figures = await figuresOf(
    db,
    accounts.map(({ id }) => id),
  );
  return accounts.map((account) => {
    const use = figures.get(account.id);
    return {
      id: account.id,
      name: account.name,
      email: account.email,
      status: account.status,
      move: account.move,
      created_at: account.createdAt.toISOString(),
      concurrency_limit: account.concurrencyLimit,
      available_ms: account.availableMs,
      reserved_ms: account.reservedMs,
      consumed_ms: account.consumedMs,
      granted_ms: account.grantedMs,
      day_ms: use?.dayMs ?? 0,
      week_ms: use?.weekMs ?? 0,
      failed: use?.failed ?? 0,
      live: use?.live ?? 0,
    };
  });
}
