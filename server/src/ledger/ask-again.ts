import { isDatabaseAway } from '../db.ts';

/**
 * Runs a statement that is safe to repeat, and repeats it once when the connection broke under it:
 * whether the first try was committed is then unknown, and only asking again with the same identity
 * can tell. A second loss is the caller's to report; it may itself ask again.
 */
export async function askAgain<T>(ask: (again: boolean) => Promise<T>): Promise<T> {
  try {
    return await ask(false);
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    return ask(true);
  }
}

/** A function with OUT parameters answers with exactly one row. */
export function onlyRow<T>(rows: readonly T[]): T {
  const row = rows[0];
  if (row === undefined) throw new Error('The database answered with no row.');
  return row;
}
