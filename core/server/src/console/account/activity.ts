import type { Activity } from '@svc-asr/protocol/console/console.ts';
import type { FastifyInstance } from 'fastify';
import { listAuditLogForOwners } from '../../accounts/logs/audit-log.ts';
import type { ConsoleDeps } from '../deps.ts';
import { memberOf, requireOwner } from '../request/guard.ts';

const SHOWN = 200;

/** The audit log of an account, for its owners. */
export function activityRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get('/activity', { onRequest: requireOwner }, async (request): Promise<Activity> => {
    const { accountId } = memberOf(request);
    const entries = await listAuditLogForOwners(deps.db, { accountId, limit: SHOWN });
    return {
      data: entries.map((entry) => ({
        id: entry.id,
        at: entry.at.toISOString(),
        action: entry.action,
        by: entry.actor_kind,
        actor: entry.actor,
        target: entry.target,
        target_name: entry.target_name,
        before: entry.before,
        after: entry.after,
        source: entry.source,
        request_id: entry.request_id,
      })),
    };
  });
}
