import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/console.ts';
import { UsageQuery, type UsageReport } from '@svc-asr/protocol/console/usage.ts';
import type { FastifyInstance } from 'fastify';
import { usageByKey, type UsageRow } from '../../accounts/usage-days.ts';
import { availableMsOf } from '../../ledger/reports/balance.ts';
import { databaseTime } from '../../platform/database/time.ts';
import type { ConsoleDeps } from '../deps.ts';
import { sendCsv } from '../request/downloads.ts';
import { memberOf } from '../request/guard.ts';

const DAY_MS = 86_400_000;

/** Charged audio by day, model and key, as a table and as a file. */
export function usageRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const schema = { querystring: UsageQuery };
  async function read(accountId: string, query: UsageQuery): Promise<UsageReport> {
    const today = (await databaseTime(deps.db)).toISOString().slice(0, 10);
    const to = query.to ?? today;
    const from = query.from ?? `${to.slice(0, 7)}-01`;
    const limit = CONSOLE_LIMITS.csvRows;
    const [{ rows, isComplete }, before, availableMs] = await Promise.all([
      usageByKey(deps.db, { accountId, from, to, limit }),
      usageByKey(deps.db, { accountId, ...daysBefore({ from, to }), limit }),
      availableMsOf(deps.db, accountId),
    ]);
    const names = new Map(rows.map((row) => [row.key_id ?? 'none', row.key_name]));
    return {
      from,
      to,
      today,
      data: rows.filter((row) => isWanted(row, query)),
      keys: [...names].map(([id, name]) => ({ id, name })),
      previous_ms: before.rows
        .filter((row) => isWanted(row, query))
        .reduce((sum, row) => sum + row.billable_ms, 0),
      available_ms: availableMs,
      complete: isComplete,
    };
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

function isWanted(row: UsageRow, { key, model }: UsageQuery): boolean {
  return (
    (key === undefined || (row.key_id ?? 'none') === key) &&
    (model === undefined || row.model === model)
  );
}

/** As many days before the first one. */
function daysBefore({ from, to }: { from: string; to: string }): { from: string; to: string } {
  const lengthMs = Math.max(0, Date.parse(to) - Date.parse(from)) + DAY_MS;
  const firstMs = Date.parse(from);
  return { from: dayOf(firstMs - lengthMs), to: dayOf(firstMs - DAY_MS) };
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
