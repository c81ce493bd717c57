import type { Queryable } from '../platform/database/db.ts';
import { queryRow, queryRows, statement, t, type RowOf } from '../platform/database/statement.ts';

const LIST = statement(
  `select node_id, process_id,
      case when accepted_at is not null then 'accepted' when refused_at is not null then 'refuses'
        else 'follows' end as state,
      marked_at, refused_at
    from ledger_marks
    where refused_at is not null or marked_at > clock_timestamp() - interval '1 minute'
    order by refused_at is null, node_id limit 1000`,
  {
    node_id: t.text(),
    process_id: t.text(),
    state: t.text<'refuses' | 'accepted' | 'follows'>(),
    marked_at: t.timestamp(),
    refused_at: t.nullable(t.timestamp()),
  },
);
const ACCEPT = statement('select accept_ledger_history($1) as accepted', { accepted: t.number() });

/** The ledger position of one process, for operators. */
export type LedgerMark = RowOf<typeof LIST>;

/** Processes of the last minute, and all that refuse this database. */
export function listLedgerMarks(db: Queryable): Promise<LedgerMark[]> {
  return queryRows(db, LIST);
}

/** Returns how many processes refused this database until now. */
export async function acceptLedgerHistory(db: Queryable, reason: string): Promise<number> {
  return (await queryRow(db, ACCEPT, [reason])).accepted;
}
