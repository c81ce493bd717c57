import type { Queryable } from './db.ts';
import { queryRows, statement, t } from './statement.ts';

const NOW = statement('select clock_timestamp() as now', { now: t.timestamp() });

export async function databaseTime(db: Queryable): Promise<Date> {
  const [clock] = await queryRows(db, NOW);
  return clock?.now ?? new Date();
}
