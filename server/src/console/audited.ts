import type { FastifyRequest } from 'fastify';
import { withAuditContext } from '../accounts/audit-log.ts';
import type { Pool, Queryable } from '../platform/db.ts';
import { networkOf } from '@svc-asr/protocol/network.ts';

/** Runs changes in one transaction whose audit entries name this request and its user. */
export function audited<T>(
  pool: Pool,
  request: FastifyRequest,
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  const context = {
    actorId: request.signedIn?.userId ?? null,
    requestId: request.id,
    source: networkOf(request.ip),
  };
  return withAuditContext(pool, context, work);
}
