import { startPeriodic, type PeriodicTask } from '../../platform/periodic.ts';
import { queryRows, statement, t } from '../../platform/database/statement.ts';
import type { ConsoleDeps } from '../deps.ts';

const EVERY_MS = 30_000;
const BATCH = 1_000;
const BATCHES_MAX = 100;

const CHECK = statement('select check_credit_levels($1) as checked', { checked: t.number() });

/** Queues emails when half, a fifth, a twentieth and nothing of an account's credit is left, until it is stopped. */
export function startCreditCheck({
  db,
  service,
}: Pick<ConsoleDeps, 'db'> & {
  readonly service: Pick<ConsoleDeps['service'], 'log'>;
}): PeriodicTask {
  return startPeriodic({
    everyMs: EVERY_MS,
    log: service.log,
    failure: 'Could not check how much credit accounts have left.',
    run: async (signal) => {
      for (let batch = 0; batch < BATCHES_MAX && !signal.aborted; batch += 1) {
        const [row] = await queryRows(db, CHECK, [BATCH]);
        if (row === undefined || row.checked < BATCH) return;
      }
    },
  });
}
