import { randomUUID } from 'node:crypto';
import { CONSOLE_LIMITS, type ConsoleErrorCode } from '@svc-asr/protocol/console/console.ts';
import {
  Approve,
  Decline,
  WaitlistQuery,
  type Decisions,
  type WaitlistPage,
} from '@svc-asr/protocol/console/operator.ts';
import type { FastifyInstance } from 'fastify';
import { listWaitlist, type WaitlistEntry } from '../../accounts/waitlist.ts';
import { statement, t } from '../../platform/database/statement.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { nextOf } from '../request/params.ts';
import { changeAsOperator } from './change.ts';

const APPROVE = statement('select approve_as_operator($1, $2, $3, $4, $5) as outcome', {
  outcome: t.text<'approved' | ConsoleErrorCode>(),
});
const DECLINE = statement('select decline_as_operator($1, $2, $3) as outcome', {
  outcome: t.text<'declined' | ConsoleErrorCode>(),
});

/** Requests for access, and decisions about up to a page of them at once. */
export function operatorWaitlistRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get<{ Querystring: WaitlistQuery }>(
    '/operator/waitlist',
    { schema: { querystring: WaitlistQuery } },
    async (request): Promise<WaitlistPage> => {
      const { status = 'waiting', after = null } = request.query;
      const limit = CONSOLE_LIMITS.operatorRowsPerPage;
      const found = await listWaitlist(deps.db, { status, after, limit: limit + 1 });
      return { data: found.slice(0, limit).map(presentEntry), next: nextOf(found, limit) };
    },
  );

  app.post<{ Body: Approve }>(
    '/operator/waitlist/approve',
    { schema: { body: Approve } },
    async (request) => {
      const { ids, credit_minutes: minutes, reason } = request.body;
      return decideAll(ids, async (id) => {
        const values = [id, randomUUID(), minutes * 60_000, reason];
        const outcome = await changeAsOperator(deps, request, { statement: APPROVE, values });
        return outcome === 'approved' ? 'done' : outcome;
      });
    },
  );

  app.post<{ Body: Decline }>(
    '/operator/waitlist/decline',
    { schema: { body: Decline } },
    async (request) => {
      const { ids, reason } = request.body;
      return decideAll(ids, async (id) => {
        const values = [id, reason];
        const outcome = await changeAsOperator(deps, request, { statement: DECLINE, values });
        return outcome === 'declined' ? 'done' : outcome;
      });
    },
  );
}

/** Each decision is a transaction of its own. If none is possible, the first problem is the answer. */
async function decideAll(
  ids: readonly string[],
  decide: (id: string) => Promise<'done' | ConsoleErrorCode>,
): Promise<Decisions> {
  const data: Decisions['data'] = [];
  let problem: ConsoleErrorCode | null = null;
  for (const id of ids) {
    const outcome = await decide(id);
    if (outcome === 'confirm_first') throw new ConsoleError(outcome);
    if (outcome !== 'done') problem ??= outcome;
    data.push({ id, outcome });
  }
  if (problem !== null && !data.some(({ outcome }) => outcome === 'done')) {
    throw new ConsoleError(problem);
  }
  return { data };
}

function presentEntry(entry: WaitlistEntry): WaitlistPage['data'][number] {
  return {
    id: entry.id,
    email: entry.email,
    use_case: entry.purpose,
    status: entry.status,
    joined_at: entry.createdAt.toISOString(),
    account_id: entry.accountId,
    decided_at: entry.decidedAt?.toISOString() ?? null,
    decided_by: entry.decidedBy,
    reason: entry.reason,
    granted_ms: entry.grantedMs,
  };
}
