import { setTimeout as delay } from 'node:timers/promises';

/** Waits for a fact, and says so when it does not come. */
export async function eventually(
  fact: () => Promise<boolean> | boolean,
  withinMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await fact())) {
    if (performance.now() > deadline) throw new Error(`Not so within ${withinMs} ms.`);
    await delay(20);
  }
}
