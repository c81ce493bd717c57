import { vi } from 'vitest';
import type { Pool } from '../../src/platform/database/db.ts';

/** Counts the statements that contain `part` while `work` runs. Those of background jobs, which may run at any time, don't count. */
export async function countStatements<T>(
  pool: Pool,
  part: string,
  work: () => Promise<T>,
): Promise<{ statements: number; result: T }> {
  const query = vi.spyOn(pool, 'query');
  try {
    const result = await work();
    const texts = query.mock.calls.map(([statement]) => JSON.stringify(statement));
    return { result, statements: texts.filter((text) => text.includes(part)).length };
  } finally {
    query.mockRestore();
  }
}
