import { isDatabaseUnavailable } from '../platform/database/db.ts';

/**
 * Runs an idempotent statement and repeats it once if the connection broke. The first attempt may have been
 * committed. Repeating it with the same ids is then a replay. A second failure is thrown.
 */
export async function retryOnce<T>(ask: (again: boolean) => Promise<T>): Promise<T> {
  try {
    return await ask(false);
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    return ask(true);
  }
}
