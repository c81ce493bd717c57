import { parentPort, workerData } from 'node:worker_threads';
import { createPool } from '../platform/database/db.ts';
import { createLog } from '../platform/observe/log.ts';
import type { LeaseOrder, LeaseWorkerData } from './lease-renewals.ts';
import { startLeaseRenewer } from './lease-renewer.ts';
import { LeaseState } from './lease-state.ts';

/**
 * The thread that renews a node's lease, with its own event loop and database connection. The main thread's
 * `HistoryGuard` can't check this connection. It need not: a renewal reads and writes nothing but the node's own row, and
 * only the main thread registers.
 */
const { database, nodeId, state, loopDeadMs }: LeaseWorkerData = workerData;
const onOrder = startLeaseRenewer({
  db: createPool({
    ...database,
    maxConnections: 1,
    connectTimeoutMs: 1_000,
    statementTimeoutMs: 1_000,
  }),
  nodeId,
  state: new LeaseState(state),
  loopDeadMs,
  log: createLog({ level: 'silent' }),
  report: (message) => parentPort?.postMessage(message),
  onStopped: () => parentPort?.close(),
});
parentPort?.on('message', (order: LeaseOrder) => onOrder(order));
