import type { Queryable } from '@svc-asr/server/platform/database/db.ts';

const TABLES = `select c.oid::regclass::text as name from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by 1`;

/**
 * Copies every row of a database. Returns a function that puts them back and deletes all others, guards off: much faster
 * than another database.
 */
export async function saveRows(owner: Queryable): Promise<() => Promise<void>> {
  const { rows } = await owner.query<{ name: string }>(TABLES);
  const names = rows.map(({ name }) => name);
  const copies = names.map((name) => `create table saved.${name} as table ${name};`);
  await owner.query(`create schema saved; ${copies.join('\n')}`);
  const restored = names.map(
    (name) =>
      `delete from ${name}; insert into ${name} overriding system value table saved.${name};`,
  );
  const restore = `begin; set local session_replication_role = replica; ${restored.join('\n')} commit`;
  return async () => {
    await owner.query(restore);
  };
}
