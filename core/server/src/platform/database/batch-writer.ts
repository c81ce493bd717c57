import type { Counter } from 'prom-client';
import type { Log } from '../observe/log.ts';
import { startPeriodic } from '../periodic.ts';

export interface BatchWriter<Row> {
  /** Keeps a row until it is written. Never waits, and never fails. */
  add(row: Row): void;
  /** Writes the remaining rows, once. */
  stop(): Promise<void>;
}

const WRITE_EVERY_MS = 1_000;
const WAITING_MAX = 2_000;
const BATCH = 200;

/**
 * Writes rows in the background, once a second and in batches, for records that nothing depends on. Rows that the
 * database doesn't accept at once, or that find the queue full, are dropped and counted.
 */
export function startBatchWriter<Row>(input: {
  readonly write: (rows: readonly Row[]) => Promise<unknown>;
  readonly dropped: Pick<Counter, 'inc'>;
  readonly log: Log;
  /** The log line for a failed write. */
  readonly failure: string;
}): BatchWriter<Row> {
  let waiting: Row[] = [];
  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      try {
        await input.write(batch);
      } catch (error) {
        input.dropped.inc(batch.length);
        throw error;
      }
    }
  }
  const task = startPeriodic({
    everyMs: WRITE_EVERY_MS,
    log: input.log,
    failure: input.failure,
    run: write,
  });
  return {
    add(row) {
      if (waiting.length < WAITING_MAX) waiting.push(row);
      else input.dropped.inc();
    },
    async stop() {
      await task.stop();
      await write().catch(() => undefined);
    },
  };
}
