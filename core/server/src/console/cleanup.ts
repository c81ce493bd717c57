import { startPeriodic, type PeriodicTask } from '../platform/periodic.ts';
import { queryRows, statement, t } from '../platform/database/statement.ts';
import type { ConsoleDeps } from './deps.ts';

const EVERY_MS = 10 * 60_000;
const BATCH = 5_000;
const BATCHES_MAX = 100;

const FORGET_DETAILS = statement('select forget_session_details($1) as forgotten', {
  forgotten: t.number(),
});

const FORGET_DEMO = statement('select forget_demo_claims() as forgotten', {
  forgotten: t.number(),
});

const FORGET_CALLS = statement('select forget_calls() as dropped', { dropped: t.number() });

/** Deletes what is older than its retention (docs/privacy.md), until it is stopped. */
export function startCleanup({ db, service }: ConsoleDeps): PeriodicTask {
  return startPeriodic({
    everyMs: EVERY_MS,
    log: service.log,
    failure: 'Old details of sessions, old calls or old claims of the demo could not be deleted.',
    run: async (signal) => {
      await queryRows(db, FORGET_CALLS, []);
      await queryRows(db, FORGET_DEMO, []);
      for (let batch = 0; batch < BATCHES_MAX && !signal.aborted; batch += 1) {
        const [row] = await queryRows(db, FORGET_DETAILS, [BATCH]);
        if (row === undefined || row.forgotten < BATCH) return;
      }
    },
  });
}
