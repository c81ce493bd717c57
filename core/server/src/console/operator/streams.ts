import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/console.ts';
import {
  FailureQuery,
  LiveQuery,
  type FailurePage,
  type LivePage,
  type NodePage,
  type OperatorSessionReport,
} from '@svc-asr/protocol/console/operator.ts';
import type { FastifyInstance } from 'fastify';
import { findAccount } from '../../accounts/accounts.ts';
import { listFailures } from '../../ledger/reports/failures.ts';
import { findSession } from '../../ledger/reports/history.ts';
import { listLiveStreams } from '../../ledger/reports/live-streams.ts';
import { listNodeLag, listNodes } from '../../nodes/nodes.ts';
import { databaseTime } from '../../platform/database/time.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { idParam, type IdParam } from '../request/params.ts';
import { readSessionReport } from '../account/sessions.ts';

/** Live streams, nodes, failures and single sessions of all accounts. Metadata only: nobody stores audio or text. */
export function operatorStreamRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const { db } = deps;
  const limit = CONSOLE_LIMITS.operatorRowsPerPage;
  app.get<{ Querystring: LiveQuery }>(
    '/operator/live',
    { schema: { querystring: LiveQuery } },
    async (request): Promise<LivePage> => {
      const { node: nodeId = null, account: accountId = null } = request.query;
      const live = await listLiveStreams(db, { limit, nodeId, accountId });
      return {
        data: live.streams.map((stream) => ({
          id: stream.id,
          account_id: stream.account_id,
          account_name: stream.account_name,
          node_id: stream.node_id,
          model: stream.model,
          status: stream.status,
          created_at: stream.created_at.toISOString(),
          claimed_at: stream.claimed_at?.toISOString() ?? null,
          reserved_ms: stream.reserved_ms,
          audio_ms: stream.audio_ms,
        })),
        by_node: [...live.byNode],
        by_account: [...live.byAccount],
        total: live.total,
        now: (await databaseTime(db)).toISOString(),
      };
    },
  );

  app.get('/operator/nodes', async (): Promise<NodePage> => {
    const [nodes, lag, now] = await Promise.all([listNodes(db), listNodeLag(db), databaseTime(db)]);
    return {
      data: nodes.map((node) => ({
        id: node.id,
        state: node.state,
        active: node.active,
        capacity: node.capacity,
        models: [...node.models],
        public_url: node.public_url,
        version: node.version,
        started_at: node.started_at.toISOString(),
        lease_until: node.lease_until.toISOString(),
        lag_ms: lag.get(node.id) ?? null,
      })),
      now: now.toISOString(),
    };
  });

  app.get<{ Querystring: FailureQuery }>(
    '/operator/failures',
    { schema: { querystring: FailureQuery } },
    async (request): Promise<FailurePage> => {
      const { hours = '24', cause = null, node: nodeId = null, account = null } = request.query;
      const filter = { hours: Number(hours), cause, nodeId, accountId: account, limit };
      const { causes, sessions } = await listFailures(db, filter);
      return {
        causes: causes.map((row) => ({
          ...row,
          cause: row.cause ?? '',
          last_at: row.last_at?.toISOString() ?? null,
        })),
        data: sessions.map((row) => ({
          ...row,
          cause: row.cause ?? '',
          completed_at: row.completed_at?.toISOString() ?? null,
        })),
        now: (await databaseTime(db)).toISOString(),
      };
    },
  );

  app.get<IdParam>(
    '/operator/sessions/:id',
    { schema: { params: idParam } },
    async (request): Promise<OperatorSessionReport> => {
      const { id } = request.params;
      const session = await findSession(db, id);
      if (session === null) throw new ConsoleError('not_found');
      const { account_id: accountId } = session;
      const [report, account] = await Promise.all([
        readSessionReport(db, { accountId, id }),
        findAccount(db, accountId),
      ]);
      return { ...report, account_id: accountId, account_name: account?.name ?? '' };
    },
  );
}
