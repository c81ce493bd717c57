import type { Clock } from './clock.ts';

/** Returns the result of the last run for `freshMs`, to everybody. A failed run is not kept, so the next call runs again. */
export function cached<T>(run: () => Promise<T>, freshMs: number, clock: Clock): () => Promise<T> {
  let latest: { readonly result: Promise<T>; readonly atMs: number } | null = null;
  return () => {
    const now = clock.monotonicMs();
    if (latest === null || now - latest.atMs >= freshMs) {
      const result = run();
      latest = { result, atMs: now };
      result.catch(() => {
        if (latest?.result === result) latest = null;
      });
    }
    return latest.result;
  };
}
