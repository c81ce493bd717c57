import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/console.ts';
import {
  AuditLogQuery,
  type AuditLogPage,
  type LedgerAuditPage,
} from '@svc-asr/protocol/console/operator.ts';
import type { FastifyInstance } from 'fastify';
import { listAuditLog } from '../../accounts/logs/audit-log.ts';
import { readInvariants } from '../../ledger/reports/audit.ts';
import { listAuditRuns } from '../../ledger/reports/audit-runs.ts';
import { databaseTime } from '../../platform/database/time.ts';
import type { ConsoleDeps } from '../deps.ts';
import { dayBegins, dayEnds } from '../request/filter-day.ts';

/** The last run of each invariant of the ledger, and who changed what. */
export function operatorAuditRoutes(app: FastifyInstance, { db }: ConsoleDeps): void {
  app.get('/operator/ledger', async (): Promise<LedgerAuditPage> => {
    const [runs, invariants, now] = await Promise.all([
      listAuditRuns(db),
      readInvariants(),
      databaseTime(db),
    ]);
    const ran = new Set(runs.map(({ invariant }) => invariant));
    const missing = invariants.filter(({ name }) => !ran.has(name));
    return {
      data: [
        ...missing.map(({ name, about }) => ({
          invariant: name,
          about,
          ran_at: null,
          took_ms: 0,
          violations: 0,
        })),
        ...runs.map((run) => ({ ...run, ran_at: run.ran_at.toISOString() })),
      ],
      now: now.toISOString(),
    };
  });

  app.get<{ Querystring: AuditLogQuery }>(
    '/operator/audit-log',
    { schema: { querystring: AuditLogQuery } },
    async (request): Promise<AuditLogPage> => {
      const {
        account: accountId = null,
        before,
        kind = null,
        who = null,
        from,
        to,
      } = request.query;
      const { entries, next } = await listAuditLog(db, {
        accountId,
        kind,
        who,
        from: dayBegins(from),
        until: dayEnds(to),
        before: before === undefined ? null : Number(before),
        limit: CONSOLE_LIMITS.operatorRowsPerPage,
      });
      return {
        data: entries.map(({ at, imported_by: _login, ...entry }) => ({
          ...entry,
          at: at.toISOString(),
        })),
        next: next === null ? null : String(next),
      };
    },
  );
}
