/** The cells of the shared memory. */
const EPOCH = 0;
const ACTIVE = 1;
const CAPACITY = 2;
const DRAINING = 3;
const TURNED_AT = 4;
const RENEWED_AT = 5;
const CELLS = 6;

/**
 * What the main thread and the thread that renews the lease tell each other, in shared memory: a busy event loop can't
 * send messages. Times are of `process.hrtime`, which all threads of a process share.
 */
export class LeaseState {
  readonly buffer: SharedArrayBuffer;
  readonly #cells: BigInt64Array;

  constructor(buffer = new SharedArrayBuffer(CELLS * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#cells = new BigInt64Array(buffer);
  }

  get epoch(): number {
    return Number(this.#read(EPOCH));
  }

  get active(): number {
    return Number(this.#read(ACTIVE));
  }

  get capacity(): number {
    return Number(this.#read(CAPACITY));
  }

  get isDraining(): boolean {
    return this.#read(DRAINING) === 1n;
  }

  /** Time since the event loop of the main thread last turned. */
  get stalledMs(): number {
    return ageMs(this.#read(TURNED_AT));
  }

  /** Counted from before the renewal was sent, so the lease never seems to last longer than it does. */
  get leaseAgeMs(): number {
    return ageMs(this.#read(RENEWED_AT));
  }

  /** The main thread is alive and has this load. */
  turned(load: { readonly active: number; readonly capacity: number }): void {
    this.#write(ACTIVE, BigInt(load.active));
    this.#write(CAPACITY, BigInt(load.capacity));
    this.#write(TURNED_AT, process.hrtime.bigint());
  }

  drain(): void {
    this.#write(DRAINING, 1n);
  }

  registered(epoch: number, sentAt: bigint): void {
    this.#write(EPOCH, BigInt(epoch));
    this.renewed(sentAt);
  }

  renewed(sentAt: bigint): void {
    this.#write(RENEWED_AT, sentAt);
  }

  #read(cell: number): bigint {
    return Atomics.load(this.#cells, cell);
  }

  #write(cell: number, value: bigint): void {
    Atomics.store(this.#cells, cell, value);
  }
}

function ageMs(since: bigint): number {
  return Number(process.hrtime.bigint() - since) / 1e6;
}
