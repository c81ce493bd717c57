import { parentPort, workerData } from 'node:worker_threads';
import { createPool, type Pool } from '../platform/db.ts';
import { createLog } from '../platform/log.ts';
import { startPeriodic } from '../platform/periodic.ts';
import { RENEWED_NOW, type LeaseWorkerData, type Renewal } from './lease-renewals.ts';
import { LeaseState } from './lease-state.ts';
import { LEASE_MS, LEASE_RENEWAL_MS, renewNode } from './nodes.ts';

/**
 * The thread that renews a node's lease, with its own event loop and database connection. The main thread's
 * `HistoryGuard` can't check this connection. It need not: a renewal reads and writes nothing but the node's own row, and
 * only the main thread registers.
 */
const input: LeaseWorkerData = workerData;
const state = new LeaseState(input.state);
const db: Pool = createPool({
  ...input.database,
  maxConnections: 1,
  connectTimeoutMs: 1_000,
  statementTimeoutMs: 1_000,
});

async function renew(): Promise<Renewal> {
  const { stalledMs, epoch, active, capacity } = state;
  if (stalledMs >= input.loopDeadMs) return { outcome: 'stalled', stalledMs };
  // A stalled node serves its streams late. It gets no new ones.
  const draining = state.isDraining || stalledMs >= LEASE_MS;
  const sentAt = process.hrtime.bigint();
  try {
    const load = { active, capacity, draining };
    if (!(await renewNode(db, { id: input.nodeId, epoch, ...load }))) {
      return { outcome: 'refused', epoch };
    }
  } catch (error) {
    return { outcome: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
  // The main thread may have registered again meanwhile.
  if (state.epoch === epoch) state.renewed(sentAt);
  return { outcome: 'renewed' };
}

const task = startPeriodic({
  everyMs: LEASE_RENEWAL_MS,
  // The main thread logs the outcomes.
  log: createLog({ level: 'silent' }),
  failure: '',
  run: async () => parentPort?.postMessage(await renew()),
});

parentPort?.on('message', (order: 'renew' | 'stop') => {
  if (order === 'renew') return void task.runNow().then(() => parentPort?.postMessage(RENEWED_NOW));
  void task
    .stop()
    .then(() => db.end())
    .finally(() => parentPort?.close());
});
