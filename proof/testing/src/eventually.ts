import { setTimeout as delay } from 'node:timers/promises';

/** Polls until `fact` holds. Throws after `withinMs`. */
export async function eventually(
  fact: () => Promise<boolean> | boolean,
  withinMs = 60_000,
  everyMs = 20,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await fact())) {
    if (performance.now() > deadline)
      throw new Error(`The condition was not met within ${withinMs} ms.`);
    await delay(everyMs);
  }
}
