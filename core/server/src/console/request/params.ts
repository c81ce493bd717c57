import { Type } from 'typebox';

/** Ids in URLs select only from the signed-in account's own records. */
export const idParam = Type.Object({ id: Type.String({ format: 'uuid' }) });
export const keyIdParam = Type.Object({ id: Type.String({ pattern: '^[0-9A-Za-z]{12}$' }) });
export interface IdParam {
  Params: { id: string };
}

/** The id after which the next page begins, if more rows than one page were found. */
export function nextOf(found: readonly { readonly id: string }[], limit: number): string | null {
  return found.length > limit ? (found[limit - 1]?.id ?? null) : null;
}
