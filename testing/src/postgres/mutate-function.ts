import type { Queryable } from '@svc-asr/server/platform/db.ts';

/**
 * Breaks a function on purpose. Throws unless the function contains every `from`, so that no mutation
 * silently does nothing.
 */
export async function mutateFunction(
  owner: Queryable,
  name: string,
  changes: readonly { readonly from: string; readonly to: string }[],
): Promise<void> {
  const { rows } = await owner.query<{ definition: string }>(
    'select pg_get_functiondef($1::regproc) as definition',
    [name],
  );
  let definition = rows[0]?.definition ?? '';
  for (const { from, to } of changes) {
    if (!definition.includes(from)) throw new Error(`${name} no longer contains: ${from}`);
    definition = definition.replaceAll(from, to);
  }
  await owner.query(definition);
}
