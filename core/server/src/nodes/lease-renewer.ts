import type { Pool } from '../platform/database/db.ts';
import type { Log } from '../platform/observe/log.ts';
import { startPeriodic } from '../platform/periodic.ts';
import { RENEWED_NOW, type LeaseOrder, type LeaseReport, type Renewal } from './lease-renewals.ts';
import type { LeaseState } from './lease-state.ts';
import { LEASE_MS, LEASE_RENEWAL_MS, renewNode } from './nodes.ts';

export interface LeaseRenewerInput {
  readonly db: Pick<Pool, 'query' | 'end'>;
  readonly nodeId: string;
  readonly state: LeaseState;
  readonly loopDeadMs: number;
  /** The main thread logs the outcomes. */
  readonly log: Log;
  /** Sends a message to the main thread. */
  readonly report: (message: LeaseReport) => void;
  /** Called after a stop, when nothing is left to do. */
  readonly onStopped: () => void;
}

/** Renews a node's lease every two seconds, in a thread of its own. Returns a function that takes the main thread's orders. */
export function startLeaseRenewer(input: LeaseRenewerInput): (order: LeaseOrder) => void {
  const { db, report, onStopped } = input;
  const task = startPeriodic({
    everyMs: LEASE_RENEWAL_MS,
    log: input.log,
    failure: '',
    run: async () => report(await renew(input)),
  });
  return (order) => {
    if (order === 'renew') return void task.runNow().then(() => report(RENEWED_NOW));
    void task
      .stop()
      .then(() => db.end())
      .finally(onStopped);
  };
}

async function renew({ db, nodeId, state, loopDeadMs }: LeaseRenewerInput): Promise<Renewal> {
  const { stalledMs, epoch, active, capacity } = state;
  if (stalledMs >= loopDeadMs) return { outcome: 'stalled', stalledMs };
  // A stalled node serves its streams late. It gets no new ones.
  const draining = state.isDraining || stalledMs >= LEASE_MS;
  const sentAt = process.hrtime.bigint();
  try {
    const load = { active, capacity, draining };
    if (!(await renewNode(db, { id: nodeId, epoch, ...load }))) {
      return { outcome: 'refused', epoch };
    }
  } catch (error) {
    return { outcome: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
  // The main thread may have registered again meanwhile.
  if (state.epoch === epoch) state.renewed(sentAt);
  return { outcome: 'renewed' };
}
