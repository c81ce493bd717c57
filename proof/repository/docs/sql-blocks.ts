import { createTestDatabase } from '../../testing/src/postgres/test-database.ts';
import type { Block } from './blocks.ts';

/** Runs each block on a migrated database, in a transaction that is rolled back, and returns PostgreSQL's errors. */
export async function sqlProblems(blocks: readonly Block[]): Promise<string[]> {
  const database = await createTestDatabase();
  try {
    const problems: string[] = [];
    const db = await database.pool.connect();
    for (const { where, code } of blocks) {
      await db.query('begin');
      await db.query(code).catch((error: unknown) => problems.push(`${where}: ${String(error)}`));
      await db.query('rollback');
    }
    db.release();
    return problems;
  } finally {
    await database.drop();
  }
}
