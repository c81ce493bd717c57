import { AsyncLocalStorage } from 'node:async_hooks';

const current = new AsyncLocalStorage<VirtualProcess>();

type Enter = <T>(run: () => T) => T;
const enterNone: Enter = AsyncLocalStorage.snapshot();

/** One simulated process: a server, a client, or a thread of one of them. */
export class VirtualProcess {
  readonly name: string;
  /** How fast its clock runs. 1 is the truth. */
  readonly rate: number;
  /** How far its calendar clock is off. */
  wallOffsetMs = 0;
  /** Until then its event loop hangs: its timers and its input wait. */
  hungUntilMs = -Infinity;
  #isDead = false;
  readonly #threads: VirtualProcess[] = [];
  readonly #onDeath = new Set<() => void>();
  /** Runs code as this process. Faster than `current.run`, which makes a new context for each call. */
  readonly enter: Enter = current.run(this, () => AsyncLocalStorage.snapshot());

  constructor(name: string, options: { readonly rate?: number } = {}) {
    this.name = name;
    this.rate = options.rate ?? 1;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** A thread has its own event loop and dies with its process. */
  thread(name: string): VirtualProcess {
    const thread = new VirtualProcess(`${this.name}/${name}`, { rate: this.rate });
    thread.wallOffsetMs = this.wallOffsetMs;
    this.#threads.push(thread);
    return thread;
  }

  /** Returns a function that removes the listener. */
  onDeath(run: () => void): () => void {
    this.#onDeath.add(run);
    return () => void this.#onDeath.delete(run);
  }

  /** From now on none of its timers, messages or answers arrives. */
  kill(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    for (const thread of this.#threads) thread.kill();
    const listeners = [...this.#onDeath];
    this.#onDeath.clear();
    for (const run of listeners) run();
  }
}

/** The process whose code runs now. Undefined: the simulator itself. */
export function currentProcess(): VirtualProcess | undefined {
  return current.getStore();
}

/** Runs code as a process, unless the process is dead. */
export function runIn(owner: VirtualProcess | undefined, run: () => void): void {
  if (owner === undefined) enterNone(run);
  else if (!owner.isDead) owner.enter(run);
}

/** Starts code as a process and returns its result. */
export function startIn<T>(owner: VirtualProcess, run: () => T): T {
  return owner.enter(run);
}
