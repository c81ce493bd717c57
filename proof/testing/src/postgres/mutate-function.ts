import type { Queryable } from '@svc-asr/server/platform/database/db.ts';

export type SqlChange =
  | { readonly in: string; readonly from: string; readonly to: string }
  /** Removes a guard first, to test the next one. */
  | { readonly sql: string };

/** Plants a bug and returns a function that undoes the changes of functions. */
export async function plantInSql(
  owner: Queryable,
  changes: readonly SqlChange[],
): Promise<() => Promise<void>> {
  const byFunction = new Map<string, { from: string; to: string }[]>();
  for (const change of changes) {
    if ('sql' in change) await owner.query(change.sql);
    else byFunction.set(change.in, [...(byFunction.get(change.in) ?? []), change]);
  }
  const originals: string[] = [];
  // All changes of a function at once, because a partial change may not be valid SQL.
  for (const [name, edits] of byFunction) originals.push(await mutateFunction(owner, name, edits));
  return async () => {
    for (const original of originals) await owner.query(original);
  };
}

/**
 * Breaks a function on purpose and returns its original definition. Throws unless the function contains every `from`, so that no mutation
 * silently does nothing.
 */
export async function mutateFunction(
  owner: Queryable,
  name: string,
  changes: readonly { readonly from: string; readonly to: string }[],
): Promise<string> {
  const { rows } = await owner.query<{ definition: string }>(
    'select pg_get_functiondef($1::regproc) as definition',
    [name],
  );
  const original = rows[0]?.definition ?? '';
  let definition = original;
  for (const { from, to } of changes) {
    if (!definition.includes(from)) throw new Error(`${name} no longer contains: ${from}`);
    definition = definition.replaceAll(from, to);
  }
  await owner.query(definition);
  return original;
}
