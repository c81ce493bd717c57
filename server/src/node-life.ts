import type { ModelId } from '@svc-asr/protocol';
import type { Clock } from './clock.ts';
import type { Queryable } from './db.ts';
import { ApiError } from './errors.ts';
import type { Log } from './log.ts';
import { LEASE_MS, LEASE_RENEWAL_MS, registerNode, renewNode, retireNode } from './nodes.ts';

export interface NodeLease {
  readonly id: string;
  readonly epoch: number;
}

export interface NodeLifeInput {
  /** A connection of its own: a busy pool must not cost the lease. */
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
 * Keeps this process's lease. While it cannot be renewed nothing new is taken in, because others may believe this
 * node dead by then; streams that run go on, because a database that is away is no reason to cut anybody's speech.
 */
export class NodeLife {
  readonly #input: NodeLifeInput;
  readonly #epoch: number;
  #renewedAtMs: number;
  #draining = false;
  #superseded = false;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> = Promise.resolve();

  private constructor(input: NodeLifeInput, began: { epoch: number; atMs: number }) {
    this.#input = input;
    this.#epoch = began.epoch;
    this.#renewedAtMs = began.atMs;
  }

  /** Registers under a new epoch, which ends every session that an earlier process of this id left behind. */
  static async begin(input: NodeLifeInput): Promise<NodeLife> {
    const atMs = input.clock.monotonicMs();
    const { id, publicUrl, models } = input;
    const { capacity } = input.load();
    const epoch = await registerNode(input.db, { id, publicUrl, models, capacity });
    const life = new NodeLife(input, { epoch, atMs });
    life.#schedule();
    return life;
  }

  /** Counted from before the renewal was sent, so it never seems to hold longer than it does. */
  get isHeld(): boolean {
    const sinceMs = this.#input.clock.monotonicMs() - this.#renewedAtMs;
    return !this.#superseded && sinceMs < LEASE_MS;
  }

  lease(): NodeLease {
    if (!this.isHeld) throw new ApiError('service_unavailable');
    return { id: this.#input.id, epoch: this.#epoch };
  }

  /** Nothing new is placed here from now on. */
  async drain(): Promise<void> {
    this.#draining = true;
    clearTimeout(this.#timer);
    await this.#renew();
    this.#schedule();
  }

  async retire(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#renewing;
    const { db, id, log } = this.#input;
    await retireNode(db, { id, epoch: this.#epoch }).catch((error: unknown) => {
      log.warn({ err: error }, 'The node could not be retired; its lease ends by itself.');
    });
  }

  #schedule(): void {
    if (this.#stopped || this.#superseded) return;
    this.#timer = setTimeout(() => {
      void this.#renew().then(() => this.#schedule());
    }, LEASE_RENEWAL_MS);
  }

  #renew(): Promise<void> {
    this.#renewing = this.#renewing.then(() => this.#renewOnce());
    return this.#renewing;
  }

  async #renewOnce(): Promise<void> {
    const { db, id, log, clock, load, onRenewed } = this.#input;
    const atMs = clock.monotonicMs();
    const wasHeld = this.isHeld;
    try {
      const draining = this.#draining;
      if (await renewNode(db, { id, epoch: this.#epoch, ...load(), draining })) {
        this.#renewedAtMs = atMs;
        if (!wasHeld) log.info({ nodeId: id }, 'The lease holds again.');
        await onRenewed?.();
        return;
      }
      this.#superseded = true;
      log.error(
        { nodeId: id },
        'Another process registered under this node id; this one takes nothing new. ' +
          'Give every process a NODE_ID of its own.',
      );
    } catch (error) {
      if (wasHeld) log.warn({ nodeId: id, err: error }, 'The lease could not be renewed.');
    }
  }
}
