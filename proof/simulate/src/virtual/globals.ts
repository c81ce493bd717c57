import nodeCrypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import { Random } from './random.ts';
import { scheduler, VirtualTimer } from './scheduler.ts';

let random = new Random(0);

/** What code of the service gets from `Math.random` and `crypto`. */
export function seedGlobals(seed: number): void {
  random = new Random(seed);
}

/** The real clock, for progress and speed. */
export const realNowMs: () => number = performance.now.bind(performance);

/**
 * Replaces every source of time and randomness of this process by a virtual one. Call it before the code under test is
 * imported: a module may keep a reference to a global.
 */
export function installGlobals({ showsStacks = false } = {}): void {
  // Errors are ordinary in runs with faults, and collecting their stacks takes a tenth of the time.
  if (!showsStacks) Error.stackTraceLimit = 0;
  replace(globalThis, {
    setTimeout: (run: Callback, ms = 0, ...values: unknown[]) =>
      scheduler.timer(() => run(...values), ms),
    setInterval: (run: Callback, ms = 0, ...values: unknown[]) =>
      scheduler.timer(() => run(...values), ms, { repeats: true }),
    setImmediate: (run: Callback, ...values: unknown[]) => scheduler.timer(() => run(...values), 0),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  });
  replace(performance, { now: () => scheduler.monotonicMs() });
  replace(process.hrtime, { bigint: () => BigInt(Math.round(scheduler.monotonicMs() * 1e6)) });
  replace(Math, { random: () => random.next() });
  replace(AbortSignal, { timeout: abortAfter });
  replaceDate();
  replaceCrypto();
  replace(timersPromises, { setTimeout: sleep });
  syncBuiltinESMExports();
}

function clear(timer: unknown): void {
  if (timer instanceof VirtualTimer) timer.isLive = false;
}

type Callback = (...values: unknown[]) => void;

function replace(target: object, members: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
  }
}

function wallMs(): number {
  return Math.floor(scheduler.wallMs());
}

function replaceDate(): void {
  const RealDate = globalThis.Date;
  const VirtualDate = new Proxy(RealDate, {
    construct(target, values, newTarget) {
      const date: Date = Reflect.construct(
        target,
        values.length === 0 ? [wallMs()] : values,
        newTarget,
      );
      return date;
    },
  });
  replace(RealDate, { now: wallMs });
  replace(globalThis, { Date: VirtualDate });
}

function fill(bytes: Uint8Array): Uint8Array {
  random.fill(bytes);
  return bytes;
}

function uuid(): string {
  return random.uuid();
}

function replaceCrypto(): void {
  replace(nodeCrypto, {
    randomUUID: uuid,
    randomBytes: (size: number) => fill(Buffer.alloc(size)),
    randomFillSync: fill,
    randomInt: (from: number, to?: number) =>
      to === undefined ? random.integer(0, from - 1) : random.integer(from, to - 1),
  });
  replace(globalThis.crypto, { randomUUID: uuid, getRandomValues: fill });
}

function abortAfter(ms: number): AbortSignal {
  const controller = new AbortController();
  scheduler
    .timer(() => controller.abort(new DOMException('Timed out.', 'TimeoutError')), ms)
    .unref();
  return controller.signal;
}

/** `setTimeout` of `node:timers/promises`. */
function sleep(
  ms: number,
  value?: unknown,
  options: { readonly signal?: AbortSignal } = {},
): Promise<unknown> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(abortError(signal));
    const onAbort = (): void => {
      timer.isLive = false;
      if (signal !== undefined) reject(abortError(signal));
    };
    const timer = scheduler.timer(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve(value);
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function abortError(signal: AbortSignal): Error {
  return Object.assign(new Error('The operation was aborted', { cause: signal.reason }), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  });
}
