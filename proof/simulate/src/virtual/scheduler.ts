import { currentProcess, runIn, type VirtualProcess } from './process.ts';

const realSetImmediate = globalThis.setImmediate;

/** The moment of virtual time 0 on the calendar. */
const EPOCH_MS = 1_800_000_000_000;

/** No run needs more. A run that does is caught in a loop. */
const STEPS_MAX = 200_000;
/** The heap is rebuilt without its cancelled timers when there are so many, and they are most of it. */
const CANCELLED_MAX = 10_000;

/**
 * How many real immediates are set at once. All promise jobs and `nextTick` callbacks run between two of them, and the
 * event loop turns only after the last one, which saves a system call for each.
 */
const TURNS = 64;

type Outcome = 'done' | 'limit' | 'idle';

/** A virtual timer, with the methods of Node's. */
export class VirtualTimer {
  readonly owner: VirtualProcess | undefined;
  readonly run: () => void;
  readonly everyMs: number | null;
  readonly #delayMs: number;
  readonly #scheduler: Scheduler;
  atMs: number;
  order: number;
  /** Where `refresh()` moved it. It keeps its place in the heap until it is due. */
  moved: { readonly atMs: number; readonly order: number } | null = null;
  #isLive = true;
  #hasRef = true;

  constructor(
    scheduler: Scheduler,
    input: Pick<VirtualTimer, 'owner' | 'run' | 'everyMs' | 'atMs' | 'order'>,
  ) {
    this.#scheduler = scheduler;
    this.owner = input.owner;
    this.run = input.run;
    this.everyMs = input.everyMs;
    this.atMs = input.atMs;
    this.order = input.order;
    this.#delayMs = input.atMs - scheduler.nowMs;
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  set isLive(isLive: boolean) {
    if (this.#isLive && !isLive) this.#scheduler.onCancelled();
    this.#isLive = isLive;
  }

  /** It runs, and has left the heap. */
  spend(): void {
    this.#isLive = false;
  }

  ref(): this {
    this.#hasRef = true;
    return this;
  }

  unref(): this {
    this.#hasRef = false;
    return this;
  }

  hasRef(): boolean {
    return this.#hasRef;
  }

  refresh(): this {
    this.#scheduler.move(this, this.#scheduler.nowMs + this.#delayMs);
    return this;
  }

  close(): this {
    this.isLive = false;
    return this;
  }

  [Symbol.dispose](): void {
    this.isLive = false;
  }
}

/**
 * Virtual time. Runs one timer at a time, in order of time, and lets everything that the timer caused settle before the
 * next one. Nothing waits for real time.
 */
export class Scheduler {
  nowMs = 0;
  /** Timers that ran. */
  steps = 0;
  /** A hash of every step: its time and its process. */
  hash = 0;
  #heap: VirtualTimer[] = [];
  /** Cancelled timers that are still in the heap. */
  #cancelled = 0;
  #stepsMax = STEPS_MAX;
  #order = 0;
  /** Work outside virtual time that the next step must wait for, such as a real database. */
  #pending = 0;
  #onIdle: (() => void) | null = null;

  reset({ stepsMax = STEPS_MAX } = {}): void {
    this.#stepsMax = stepsMax;
    this.nowMs = 0;
    this.steps = 0;
    this.hash = 0;
    this.#heap = [];
    this.#cancelled = 0;
    this.#order = 0;
  }

  /** The monotonic clock of a process. */
  monotonicMs(owner: VirtualProcess | undefined = currentProcess()): number {
    return owner === undefined ? this.nowMs : this.nowMs * owner.rate;
  }

  /** The calendar clock of a process. */
  wallMs(owner: VirtualProcess | undefined = currentProcess()): number {
    return EPOCH_MS + this.monotonicMs(owner) + (owner?.wallOffsetMs ?? 0);
  }

  /** Starts a timer of the current process, by the clock of that process. */
  timer(run: () => void, ms: number, options: { readonly repeats?: boolean } = {}): VirtualTimer {
    const owner = currentProcess();
    const delayMs = Math.max(options.repeats === true ? 1 : 0, ms || 0) / (owner?.rate ?? 1);
    return this.#add({ run, owner, delayMs, everyMs: options.repeats === true ? delayMs : null });
  }

  /** Runs something later as part of the world, outside of every process. */
  later(ms: number, run: () => void): VirtualTimer {
    return this.#add({ run, owner: undefined, delayMs: Math.max(0, ms), everyMs: null });
  }

  /** Delivers something to a process from outside. It waits while the event loop of the process hangs. */
  deliver(owner: VirtualProcess | undefined, ms: number, run: () => void): void {
    this.#add({ run, owner, delayMs: Math.max(0, ms), everyMs: null }).unref();
  }

  move(timer: VirtualTimer, atMs: number): void {
    if (timer.isLive) timer.moved = { atMs, order: this.#order++ };
  }

  /** Called once for each timer that is cancelled before it ran. */
  onCancelled(): void {
    this.#cancelled += 1;
    if (this.#cancelled < CANCELLED_MAX || this.#cancelled * 2 < this.#heap.length) return;
    // A sorted list is a heap.
    this.#heap = this.#heap
      .filter(({ isLive }) => isLive)
      .toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
    this.#cancelled = 0;
  }

  /** Holds virtual time until the work is done. */
  async hold<T>(work: Promise<T>): Promise<T> {
    this.#pending += 1;
    try {
      return await work;
    } finally {
      this.#pending -= 1;
      if (this.#pending === 0) this.#resume();
    }
  }

  #resume(): void {
    const onIdle = this.#onIdle;
    this.#onIdle = null;
    onIdle?.();
  }

  /** Live timers that would keep a process from ending. */
  timersOf(owner: VirtualProcess): VirtualTimer[] {
    return this.#heap.filter((timer) => timer.isLive && timer.hasRef() && timer.owner === owner);
  }

  /** Runs until `isDone`, until the virtual time limit, or until nothing is left to run. */
  run(isDone: () => boolean, limitMs: number): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const turn = (): void => {
        if (isOver || this.#pending > 0) return;
        try {
          const outcome = isDone() ? 'done' : this.#step(limitMs);
          if (outcome === null) return;
          isOver = true;
          resolve(outcome);
        } catch (error) {
          isOver = true;
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      const turns = (): void => {
        for (let at = 1; at < TURNS; at += 1) realSetImmediate(turn);
        realSetImmediate(() => {
          turn();
          if (isOver) return;
          if (this.#pending === 0) turns();
          else this.#onIdle = turns;
        });
      };
      turns();
    });
  }

  /** Runs the next timer. Returns null if one ran. */
  #step(limitMs: number): Outcome | null {
    for (;;) {
      const timer = this.#pop();
      if (timer === undefined) return 'idle';
      const { owner } = timer;
      if (!timer.isLive) {
        this.#cancelled = Math.max(0, this.#cancelled - 1);
        continue;
      }
      if (owner?.isDead === true) continue;
      if (timer.moved !== null) {
        Object.assign(timer, timer.moved);
        timer.moved = null;
        this.#push(timer);
        continue;
      }
      if (timer.atMs > limitMs) {
        this.#push(timer);
        this.nowMs = Math.max(this.nowMs, limitMs);
        return 'limit';
      }
      if (owner !== undefined && owner.hungUntilMs > timer.atMs) {
        timer.atMs = owner.hungUntilMs;
        this.#push(timer);
        continue;
      }
      this.nowMs = Math.max(this.nowMs, timer.atMs);
      if (timer.everyMs === null) timer.spend();
      else {
        timer.atMs = this.nowMs + timer.everyMs;
        timer.order = this.#order++;
        this.#push(timer);
      }
      this.steps += 1;
      if (this.steps > this.#stepsMax) return 'limit';
      this.note(owner?.name ?? '');
      runIn(owner, timer.run);
      return null;
    }
  }

  /** Adds a line to the hash of this run. */
  note(text: string): void {
    let hash = this.hash ^ Math.round(this.nowMs * 1000);
    for (let at = 0; at < text.length; at += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    }
    this.hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  }

  #add(input: {
    run: () => void;
    owner: VirtualProcess | undefined;
    delayMs: number;
    everyMs: number | null;
  }): VirtualTimer {
    const { run, owner, delayMs, everyMs } = input;
    const atMs = this.nowMs + delayMs;
    const timer = new VirtualTimer(this, { run, owner, everyMs, atMs, order: this.#order++ });
    this.#push(timer);
    return timer;
  }

  #push(timer: VirtualTimer): void {
    const heap = this.#heap;
    let at = heap.push(timer) - 1;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || !isBefore(timer, parent)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = timer;
  }

  #pop(): VirtualTimer | undefined {
    const heap = this.#heap;
    const [top] = heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return top;
    let at = 0;
    for (;;) {
      const leftAt = 2 * at + 1;
      const left = heap[leftAt];
      if (left === undefined) break;
      const right = heap[leftAt + 1];
      const isRight = right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (!isBefore(child, last)) break;
      heap[at] = child;
      at = isRight ? leftAt + 1 : leftAt;
    }
    heap[at] = last;
    return top;
  }
}

function isBefore(a: VirtualTimer, b: VirtualTimer): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

/** The one scheduler of this process. Everything virtual uses it. */
export const scheduler = new Scheduler();
