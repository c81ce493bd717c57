import { once, type EventEmitter } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ConnectOptions } from '../platform/database/db.ts';
import type { Log } from '../platform/observe/log.ts';
import { sleep } from '../platform/sleep.ts';
import type { LeaseState } from './lease-state.ts';

/** How often the main thread says that its event loop turns, and how loaded it is. */
const TURN_EVERY_MS = 250;
const RESTART_AFTER_MS = 1_000;
const STOP_MS = 3_000;
const WORKER = new URL(`./lease-worker-main${extname(import.meta.filename)}`, import.meta.url);

export interface LeaseWorkerData {
  readonly database: Pick<ConnectOptions, 'url' | 'role' | 'applicationName'>;
  readonly nodeId: string;
  readonly state: SharedArrayBuffer;
  readonly loopDeadMs: number;
}

/** The outcome of one attempt to renew the lease. */
export type Renewal =
  | { readonly outcome: 'renewed' }
  /** Another process has the node id, or the database doesn't know it. */
  | { readonly outcome: 'refused'; readonly epoch: number }
  | { readonly outcome: 'failed'; readonly message: string }
  /** The event loop of the main thread hangs, so the lease may expire. */
  | { readonly outcome: 'stalled'; readonly stalledMs: number };

/** Sent after a renewal that the main thread asked for. */
export const RENEWED_NOW = 'renewed_now';

export type LeaseReport = Renewal | typeof RENEWED_NOW;
export type LeaseOrder = 'renew' | 'stop';

/** The thread that renews the lease, as the main thread sees it. It emits `message`, `error` and `exit`. */
export interface LeaseThread extends EventEmitter {
  postMessage(order: LeaseOrder): void;
  terminate(): Promise<unknown>;
}

export type StartLeaseThread = (data: LeaseWorkerData) => LeaseThread;

export interface LeaseRenewalsInput extends Omit<LeaseWorkerData, 'state'> {
  readonly state: LeaseState;
  readonly load: () => { readonly active: number; readonly capacity: number };
  readonly log: Log;
  readonly onRenewal: (renewal: Renewal) => void;
  /** Default: a worker thread. */
  readonly startThread?: StartLeaseThread | undefined;
}

/** Renews a node's lease from a thread of its own, which a busy event loop can't starve. */
export class LeaseRenewals {
  readonly #input: LeaseRenewalsInput;
  readonly #turning: NodeJS.Timeout;
  #thread: LeaseThread;
  #restart: NodeJS.Timeout | undefined;
  readonly #firstRenewal = Promise.withResolvers<void>();
  #onRenewedNow: () => void = () => {};
  #isStopping = false;

  constructor(input: LeaseRenewalsInput) {
    this.#input = input;
    input.state.turned(input.load());
    this.#turning = setInterval(() => input.state.turned(input.load()), TURN_EVERY_MS);
    this.#thread = this.#start();
  }

  /** Resolves after the thread's first attempt. On a busy machine its start takes longer than the lease lasts. */
  started(): Promise<void> {
    return this.#firstRenewal.promise;
  }

  /** Tries a renewal at once. Resolves when it has succeeded or failed. */
  async renewNow(): Promise<void> {
    const renewed = new Promise<void>((resolve) => {
      this.#onRenewedNow = resolve;
    });
    this.#thread.postMessage('renew');
    await Promise.race([renewed, sleep(STOP_MS)]);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#turning);
    clearTimeout(this.#restart);
    const exited = once(this.#thread, 'exit');
    this.#thread.postMessage('stop');
    await Promise.race([exited, sleep(STOP_MS)]);
    await this.#thread.terminate();
  }

  #start(): LeaseThread {
    const { database, nodeId, state, loopDeadMs, log, onRenewal } = this.#input;
    const { startThread = startWorker } = this.#input;
    const workerData: LeaseWorkerData = { database, nodeId, state: state.buffer, loopDeadMs };
    const thread = startThread(workerData);
    thread.on('message', (message: LeaseReport) => {
      if (message === RENEWED_NOW) return this.#onRenewedNow();
      this.#firstRenewal.resolve();
      onRenewal(message);
    });
    thread.on('error', (error: Error) =>
      log.error({ err: error }, 'The thread that renews the lease ended. It is restarted.'),
    );
    thread.once('exit', () => {
      if (this.#isStopping) return;
      this.#restart = setTimeout(() => (this.#thread = this.#start()), RESTART_AFTER_MS);
    });
    return thread;
  }
}

function startWorker(workerData: LeaseWorkerData): LeaseThread {
  return new Worker(WORKER, { workerData, name: 'lease' });
}
