import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/console.ts';
import { UsageQuery, type UsageReport } from '@svc-asr/protocol/console/usage.ts';
import type { FastifyInstance } from 'fastify';
import { usageByKey } from '../../accounts/usage-days.ts';
import { databaseTime } from '../../platform/database/time.ts';
import type { ConsoleDeps } from '../deps.ts';
import { sendCsv } from '../request/downloads.ts';
import { memberOf } from '../request/guard.ts';

/** Charged audio by day, model and key, as a table and as a file. */
export function usageRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const schema = { querystring: UsageQuery };
  async function read(accountId: string, query: UsageQuery): Promise<UsageReport> {
    const today = (await databaseTime(deps.db)).toISOString().slice(0, 10);
    const to = query.to ?? today;
    const from = query.from ?? `${to.slice(0, 7)}-01`;
    const limit = CONSOLE_LIMITS.csvRows;
    const { rows, isComplete } = await usageByKey(deps.db, { accountId, from, to, limit });
    return { from, to, data: [...rows], complete: isComplete };
  }

  app.get<{ Querystring: UsageQuery }>('/usage', { schema }, (request) =>
    read(memberOf(request).accountId, request.query),
  );

  app.get<{ Querystring: UsageQuery }>('/usage.csv', { schema }, async (request, reply) => {
    const { accountId } = memberOf(request);
    const { data } = await deps.downloads.run(accountId, () => read(accountId, request.query));
    return sendCsv(reply, {
      name: 'svc-asr-usage',
      columns: ['day_utc', 'model', 'key_id', 'key_name', 'sessions', 'billable_ms'],
      rows: data.map((line) => [
        line.day,
        line.model,
        line.key_id,
        line.key_name,
        line.sessions,
        line.billable_ms,
      ]),
    });
  });
}
