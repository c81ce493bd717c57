import { Counter, type Registry } from 'prom-client';
import { startBatchWriter, type BatchWriter } from '../platform/database/batch-writer.ts';
import type { Queryable } from '../platform/database/db.ts';
import type { Log } from '../platform/observe/log.ts';
import { queryRows, statement, t } from '../platform/database/statement.ts';

/** A row of `session_details`, in the names of its columns. */
export interface SessionDetailsRow {
  readonly account_id: string;
  readonly session_id: string;
  readonly request_id: string;
  readonly [column: string]: string | number | null | readonly string[];
}

export type SessionDetails = BatchWriter<SessionDetailsRow>;

const RECORD = statement('select record_streams($1, $2) as recorded', { recorded: t.number() });

/** Stores how streams went, after their settlement. Billing does not depend on it. */
export function startSessionDetails(input: {
  readonly db: Queryable;
  readonly nodeId: string;
  readonly registry: Registry;
  readonly log: Log;
}): SessionDetails {
  return startBatchWriter({
    write: (rows) => queryRows(input.db, RECORD, [input.nodeId, JSON.stringify(rows)]),
    dropped: new Counter({
      name: 'svc_session_details_dropped_total',
      help: 'Ended streams whose details were not stored, because the database did not accept them or too many waited. Charges are not affected.',
      registers: [input.registry],
    }),
    log: input.log,
    failure: 'Details of ended streams could not be stored.',
  });
}
