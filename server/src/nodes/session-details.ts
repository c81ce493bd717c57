import { Counter, type Registry } from 'prom-client';
import type { Queryable } from '../platform/db.ts';
import type { Log } from '../platform/log.ts';
import { startPeriodic } from '../platform/periodic.ts';
import { number, queryRows, statement } from '../platform/statement.ts';

/** A row of `session_details`, in the names of its columns. */
export interface SessionDetailsRow {
  readonly account_id: string;
  readonly session_id: string;
  readonly request_id: string;
  readonly [column: string]: string | number | null | readonly string[];
}

export interface SessionDetails {
  /** Keeps a row until it is written. Never waits, and never fails. */
  add(row: SessionDetailsRow): void;
  /** Writes what is left, once. */
  stop(): Promise<void>;
}

const WRITE_EVERY_MS = 1_000;
const WAITING_MAX = 2_000;
const BATCH = 200;

const RECORD = statement('select record_streams($1, $2) as recorded', { recorded: number() });

/**
 * Stores how streams went, after their settlement and in batches. Billing does not depend on it: rows that can't be
 * written at once, or that find the queue full, are dropped and counted.
 */
export function startSessionDetails(input: {
  readonly db: Queryable;
  readonly nodeId: string;
  readonly registry: Registry;
  readonly log: Log;
}): SessionDetails {
  const dropped = new Counter({
    name: 'svc_session_details_dropped_total',
    help: 'Ended streams whose details were not stored, because the database did not accept them or too many waited. Charges are not affected.',
    registers: [input.registry],
  });
  let waiting: SessionDetailsRow[] = [];
  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      try {
        await queryRows(input.db, RECORD, [input.nodeId, JSON.stringify(batch)]);
      } catch (error) {
        dropped.inc(batch.length);
        throw error;
      }
    }
  }
  const task = startPeriodic({
    everyMs: WRITE_EVERY_MS,
    log: input.log,
    failure: 'Details of ended streams could not be stored.',
    run: write,
  });
  return {
    add(row) {
      if (waiting.length < WAITING_MAX) waiting.push(row);
      else dropped.inc();
    },
    async stop() {
      await task.stop();
      await write().catch(() => undefined);
    },
  };
}
