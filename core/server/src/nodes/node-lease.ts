import type { ModelId } from '@svc-asr/protocol';
import type { ConnectOptions, Queryable } from '../platform/database/db.ts';
import { ApiError } from '../platform/api-error.ts';
import type { Log } from '../platform/observe/log.ts';
import { sleep } from '../platform/sleep.ts';
import { serviceVersion } from '../platform/service-version.ts';
import { LeaseRenewals, type Renewal, type StartLeaseThread } from './lease-renewals.ts';
import { LeaseState } from './lease-state.ts';
import { findNode, LEASE_MS, registerNode, retireNode } from './nodes.ts';

/** The node id and epoch under which this process may claim sessions. */
export interface LeaseHolder {
  readonly id: string;
  readonly epoch: number;
}

export interface NodeLeaseInput {
  readonly db: Queryable;
  /** For the connection of the thread that renews the lease. */
  readonly database: Pick<ConnectOptions, 'url' | 'role' | 'applicationName'>;
  readonly log: Log;
  readonly id: string;
  readonly publicUrl: string;
  readonly models: readonly ModelId[];
  readonly load: () => { readonly active: number; readonly capacity: number };
  /** Called after each renewal, one call at a time. */
  readonly onRenewed?: () => Promise<void>;
  /** Default: `LOOP_DEAD_MS`. */
  readonly loopDeadMs?: number;
  /** Starts the thread that renews the lease. Default: a worker thread. */
  readonly startThread?: StartLeaseThread | undefined;
}

/**
 * An event loop that has not turned for this long counts as dead, and its lease expires. Long enough for every flood, garbage
 * collection and swap that we have seen. Half the time after which clients and the gateway give a silent connection up.
 */
const LOOP_DEAD_MS = 30_000;
const REGAIN_MS = 1_000;

/**
 * Holds this process's lease. While renewal fails, the process takes no new streams, because others
 * may consider this node dead. Open streams continue.
 */
export class NodeLease {
  readonly #input: NodeLeaseInput;
  readonly #state: LeaseState;
  readonly #renewals: LeaseRenewals;
  #reacting: Promise<void> | null = null;
  #regaining: Promise<void> | null = null;
  #isFailing = false;
  #wasHeld = true;
  readonly #registeredAtMs = performance.now();
  #superseded = false;

  private constructor(input: NodeLeaseInput, state: LeaseState) {
    this.#input = input;
    this.#state = state;
    this.#renewals = new LeaseRenewals({
      database: input.database,
      nodeId: input.id,
      state,
      loopDeadMs: input.loopDeadMs ?? LOOP_DEAD_MS,
      load: input.load,
      log: input.log,
      onRenewal: (renewal) => this.#onRenewal(renewal),
      startThread: input.startThread,
    });
  }

  /** Registers under a new epoch, which ends every session that an earlier process with this id left behind. */
  static async register(input: NodeLeaseInput): Promise<NodeLease> {
    const state = new LeaseState();
    await register(input, state);
    const lease = new NodeLease(input, state);
    await lease.#renewals.started();
    return lease;
  }

  /** Since this process first registered. */
  get #ageMs(): number {
    return performance.now() - this.#registeredAtMs;
  }

  get isHeld(): boolean {
    return !this.#superseded && this.#state.leaseAgeMs < LEASE_MS;
  }

  /**
   * Renews a lease that ran out, for work that waits for it: after an outage a node is ready again as soon as the database is.
   * Waits for a second at most.
   */
  async regain(): Promise<void> {
    if (this.isHeld || this.#superseded) return;
    this.#regaining ??= this.#renewals.renewNow().finally(() => (this.#regaining = null));
    await Promise.race([this.#regaining, sleep(REGAIN_MS)]);
  }

  /** Throws 503 while the lease is not held. */
  holder(): LeaseHolder {
    if (!this.isHeld) throw new ApiError('service_unavailable');
    return { id: this.#input.id, epoch: this.#state.epoch };
  }

  /** Stops placement on this node. */
  async drain(): Promise<void> {
    this.#state.drain();
    await this.#renewals.renewNow();
  }

  async retire(): Promise<void> {
    await this.#renewals.stop();
    await this.#reacting;
    const { db, id, log } = this.#input;
    await retireNode(db, { id, epoch: this.#state.epoch }).catch((error: unknown) => {
      log.warn({ err: error }, 'The node could not be retired; its lease expires by itself.');
    });
  }

  #onRenewal(renewal: Renewal): void {
    const { log, id } = this.#input;
    switch (renewal.outcome) {
      case 'renewed':
        if (!this.#wasHeld) log.info({ nodeId: id }, 'The lease is held again.');
        this.#wasHeld = true;
        this.#isFailing = false;
        return this.#react(() => this.#input.onRenewed?.());
      case 'refused':
        return this.#react(() => this.#onRefused(renewal.epoch));
      case 'failed':
        return this.#onFailed(new Error(renewal.message));
      case 'stalled':
        // It arrives when the loop turns again.
        log.error(
          { nodeId: id, stalledMs: Math.round(renewal.stalledMs) },
          'The event loop hung, so the lease was not renewed.',
        );
    }
  }

  #onFailed(error: unknown): void {
    this.#wasHeld = this.isHeld;
    if (!this.#isFailing) this.#input.log.warn({ err: error }, 'The lease could not be renewed.');
    this.#isFailing = true;
  }

  /** Outcomes that arrive during a reaction get none: the next comes within two seconds. */
  #react(reaction: () => Promise<void> | undefined): void {
    if (this.#reacting !== null) return;
    this.#reacting = Promise.resolve(reaction())
      .catch((error: unknown) => this.#onFailed(error))
      .finally(() => (this.#reacting = null));
  }

  /**
   * A database restored from before our registration lacks this epoch, so no process has superseded it. One that is complete
   * again may know the epoch as that of an earlier process, which has retired, or a higher epoch of an earlier process, which
   * has died.
   */
  async #onRefused(refusedEpoch: number): Promise<void> {
    const { db, id, log } = this.#input;
    const { epoch } = this.#state;
    if (this.#superseded || refusedEpoch !== epoch) return;
    const known = await findNode(db, id);
    const isOlder = known !== null && !known.is_held && known.age_ms > this.#ageMs;
    const isForgotten = known === null || known.epoch < epoch;
    if (
      isForgotten ||
      (known.epoch === epoch && known.retired) ||
      (known.epoch > epoch && isOlder)
    ) {
      await register(this.#input, this.#state);
      log.warn({ nodeId: id }, 'The database did not know this process, so it registered again.');
      return;
    }
    // An older database refused, and the complete one has returned meanwhile. It accepts the next renewal.
    if (known.epoch === epoch) return;
    this.#superseded = true;
    log.error(
      { nodeId: id },
      'Another process registered under this node id, so this one takes no new streams. ' +
        'Give every process its own NODE_ID.',
    );
  }
}

async function register(input: NodeLeaseInput, state: LeaseState): Promise<void> {
  const sentAt = process.hrtime.bigint();
  const { db, load, id, publicUrl, models } = input;
  const { capacity } = load();
  const node = { id, publicUrl, models, capacity, version: serviceVersion() };
  state.registered(await registerNode(db, node), sentAt);
}
