import { SERVICE_COMPONENTS, type ServiceStatus } from '@svc-asr/protocol/service-status.ts';
import type { Queryable } from '../../platform/database/db.ts';
import type { Log } from '../../platform/observe/log.ts';
import { startPeriodic, type PeriodicTask } from '../../platform/periodic.ts';

/** Three times a minute, so that one slow check leaves no gap. */
const EVERY_MS = 20_000;

/**
 * Records each minute which components are available. Nothing is written while this process drains or the database is
 * down: if no other process writes either, the gap counts as down.
 */
export function startStatusRecorder(input: {
  db: Queryable;
  check: () => Promise<ServiceStatus>;
  isDraining: () => boolean;
  log: Log;
}): PeriodicTask {
  const { db, check, isDraining, log } = input;
  return startPeriodic({
    everyMs: EVERY_MS,
    log,
    failure:
      'The status could not be recorded. It is tried again, and a minute without a record counts as down.',
    run: async () => {
      if (!isDraining()) await recordStatus(db, await check());
    },
  });
}

/** Degraded components serve, so they are available. */
export async function recordStatus(db: Queryable, { components }: ServiceStatus): Promise<void> {
  const available = components.filter(({ state }) => state !== 'down').map(({ id }) => id);
  const known = SERVICE_COMPONENTS.map(({ id }) => id);
  await db.query('select record_status($1::text[], $2::text[])', [known, available]);
}
