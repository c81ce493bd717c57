import type { ModelId } from '@svc-asr/protocol';
import type { Clock } from '../platform/clock.ts';
import type { Queryable } from '../platform/db.ts';
import { ApiError } from '../platform/api-error.ts';
import type { Log } from '../platform/log.ts';
import { startPeriodic, type PeriodicTask } from '../platform/periodic.ts';
import {
  findNodeEpoch,
  LEASE_MS,
  LEASE_RENEWAL_MS,
  registerNode,
  renewNode,
  retireNode,
} from './nodes.ts';

/** The node id and epoch under which this process may claim sessions. */
export interface LeaseHolder {
  readonly id: string;
  readonly epoch: number;
}

export interface NodeLeaseInput {
  /** A dedicated connection, so that a busy pool can't lose the lease. */
  readonly db: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  readonly id: string;
  readonly publicUrl: string;
  readonly models: readonly ModelId[];
  readonly load: () => { readonly active: number; readonly capacity: number };
  /** Called after each renewal. */
  readonly onRenewed?: () => Promise<void>;
}

/**
 * Renews this process's lease. While renewal fails, the process takes no new streams, because others
 * may consider this node dead. Open streams continue.
 */
export class NodeLease {
  readonly #input: NodeLeaseInput;
  #epoch: number;
  readonly #renewal: PeriodicTask;
  #renewedAtMs: number;
  #draining = false;
  #superseded = false;

  private constructor(input: NodeLeaseInput, registered: { epoch: number; atMs: number }) {
    this.#input = input;
    this.#epoch = registered.epoch;
    this.#renewedAtMs = registered.atMs;
    this.#renewal = startPeriodic({
      everyMs: LEASE_RENEWAL_MS,
      log: input.log,
      failure: 'The lease could not be renewed.',
      run: () => this.#renew(),
    });
  }

  /** Registers under a new epoch, which ends every session that an earlier process with this id left behind. */
  static async register(input: NodeLeaseInput): Promise<NodeLease> {
    return new NodeLease(input, await registered(input));
  }

  /** Counted from before the renewal was sent, so it never seems to last longer than it does. */
  get isHeld(): boolean {
    const ageMs = this.#input.clock.monotonicMs() - this.#renewedAtMs;
    return !this.#superseded && ageMs < LEASE_MS;
  }

  /** Throws 503 while the lease is not held. */
  holder(): LeaseHolder {
    if (!this.isHeld) throw new ApiError('service_unavailable');
    return { id: this.#input.id, epoch: this.#epoch };
  }

  /** Stops placement on this node. */
  async drain(): Promise<void> {
    this.#draining = true;
    await this.#renewal.runNow();
  }

  async retire(): Promise<void> {
    await this.#renewal.stop();
    const { db, id, log } = this.#input;
    await retireNode(db, { id, epoch: this.#epoch }).catch((error: unknown) => {
      log.warn({ err: error }, 'The node could not be retired; its lease expires by itself.');
    });
  }

  async #renew(): Promise<void> {
    if (this.#superseded) return;
    const { db, id, log, clock, load, onRenewed } = this.#input;
    const atMs = clock.monotonicMs();
    const wasHeld = this.isHeld;
    const draining = this.#draining;
    if (await renewNode(db, { id, epoch: this.#epoch, ...load(), draining })) {
      this.#renewedAtMs = atMs;
      if (!wasHeld) log.info({ nodeId: id }, 'The lease is held again.');
      await onRenewed?.();
      return;
    }
    if (await this.#isForgotten()) return this.#registerAgain();
    this.#superseded = true;
    log.error(
      { nodeId: id },
      'Another process registered under this node id, so this one takes no new streams. ' +
        'Give every process its own NODE_ID.',
    );
  }

  /** A database restored from before our registration lacks this epoch, so no process has superseded it. */
  async #isForgotten(): Promise<boolean> {
    const epoch = await findNodeEpoch(this.#input.db, this.#input.id);
    return epoch === null || epoch < this.#epoch;
  }

  async #registerAgain(): Promise<void> {
    const { epoch, atMs } = await registered(this.#input);
    this.#epoch = epoch;
    this.#renewedAtMs = atMs;
    this.#input.log.warn(
      { nodeId: this.#input.id },
      'The database did not know this process, so it registered again.',
    );
  }
}

async function registered(input: NodeLeaseInput): Promise<{ epoch: number; atMs: number }> {
  const atMs = input.clock.monotonicMs();
  const { id, publicUrl, models } = input;
  const { capacity } = input.load();
  return { epoch: await registerNode(input.db, { id, publicUrl, models, capacity }), atMs };
}
