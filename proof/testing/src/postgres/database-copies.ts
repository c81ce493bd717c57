import { randomUUID } from 'node:crypto';
import { withDatabase } from '@svc-asr/local/local-postgres.ts';
import { onServer } from './test-database.ts';

/** Copies of one database, for tests that replace the database of a running process. */
export interface DatabaseCopies {
  /** Copies the current state and returns the copy's name. Breaks connections to the original. */
  copy(): Promise<string>;
  /** Replaces the original with a copy. Returns the name under which the original is kept. */
  replaceWith(copy: string): Promise<string>;
  /** Replaces the original with an exact copy, with no writes in between. */
  replaceWithExactCopy(): Promise<void>;
  drop(): Promise<void>;
}

export function databaseCopies(databaseUrl: string): DatabaseCopies {
  const original = new URL(databaseUrl).pathname.slice(1);
  const adminUrl = withDatabase(databaseUrl, 'postgres');
  const names = new Set<string>();
  function newName(): string {
    const name = `copy_${randomUUID().replaceAll('-', '')}`;
    names.add(name);
    return name;
  }
  /** Closes all connections first, because neither copying nor renaming allows any. */
  async function whileClosed(statements: readonly string[]): Promise<void> {
    await onServer(adminUrl, async (admin) => {
      await admin.query(`alter database ${original} allow_connections false`);
      await admin.query(
        `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${original}'`,
      );
      for (const statement of statements) await admin.query(statement);
      await admin.query(`alter database ${original} allow_connections true`);
    });
  }
  return {
    async copy() {
      const name = newName();
      await whileClosed([`create database ${name} template ${original} strategy file_copy`]);
      return name;
    },
    async replaceWith(copy) {
      const kept = newName();
      names.delete(copy);
      await whileClosed([
        `alter database ${original} rename to ${kept}`,
        `alter database ${kept} allow_connections true`,
        `alter database ${copy} rename to ${original}`,
      ]);
      return kept;
    },
    async replaceWithExactCopy() {
      const kept = newName();
      await whileClosed([
        `alter database ${original} rename to ${kept}`,
        `create database ${original} template ${kept} strategy file_copy`,
      ]);
    },
    async drop() {
      await onServer(adminUrl, async (admin) => {
        for (const name of names) await admin.query(`drop database ${name} with (force)`);
      });
    },
  };
}
