import { EventEmitter } from 'node:events';
import type { LeaseOrder, StartLeaseThread } from '@svc-asr/server/nodes/lease-renewals.ts';
import { startLeaseRenewer } from '@svc-asr/server/nodes/lease-renewer.ts';
import { LeaseState } from '@svc-asr/server/nodes/lease-state.ts';
import type { Log } from '@svc-asr/server/platform/observe/log.ts';
import type { Pool } from '@svc-asr/server/platform/database/db.ts';
import type { VirtualProcess } from '../virtual/process.ts';
import { scheduler } from '../virtual/scheduler.ts';

/** Messages between threads take this long. */
const MESSAGE_MS = 0.05;

/** Runs the thread that renews the lease as a simulated one, with its own event loop and database connection. */
export function simulateLeaseThread(input: {
  readonly owner: VirtualProcess;
  readonly log: Log;
  readonly openPool: (thread: VirtualProcess) => Pool;
  /** Gives a function that ends the thread, as an error in it would. */
  readonly onStarted: (end: () => void) => void;
}): StartLeaseThread {
  return ({ nodeId, state, loopDeadMs }) => {
    const thread = input.owner.thread('lease');
    const parent = new EventEmitter();
    const emit = (event: string, value?: unknown): void => {
      scheduler.deliver(input.owner, MESSAGE_MS, () => parent.emit(event, value));
    };
    const exit = (): void => {
      if (thread.isDead) return;
      thread.kill();
      emit('exit', 0);
    };
    input.onStarted(exit);
    let onOrder: ((order: LeaseOrder) => void) | null = null;
    scheduler.deliver(thread, MESSAGE_MS, () => {
      onOrder = startLeaseRenewer({
        db: input.openPool(thread),
        nodeId,
        state: new LeaseState(state),
        loopDeadMs,
        log: input.log,
        report: (message) => emit('message', message),
        onStopped: exit,
      });
    });
    return Object.assign(parent, {
      postMessage: (order: LeaseOrder) => {
        scheduler.deliver(thread, 2 * MESSAGE_MS, () => onOrder?.(order));
      },
      terminate: async () => exit(),
    });
  };
}
