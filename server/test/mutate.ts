import type { Queryable } from '../src/db.ts';

/** Breaks a function on purpose: `from` must stand in it, so that no mutation can quietly become nothing. */
export async function mutateFunction(
  owner: Queryable,
  input: { name: string; from: string; to: string },
): Promise<void> {
  const { rows } = await owner.query<{ definition: string }>(
    'select pg_get_functiondef($1::regproc) as definition',
    [input.name],
  );
  const definition = rows[0]?.definition ?? '';
  if (!definition.includes(input.from)) {
    throw new Error(`${input.name} no longer contains: ${input.from}`);
  }
  await owner.query(definition.replaceAll(input.from, input.to));
}
