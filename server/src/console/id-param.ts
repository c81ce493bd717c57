import { Type } from 'typebox';

/** Ids in URLs select only from the signed-in account's own records. */
export const idParam = Type.Object({ id: Type.String({ format: 'uuid' }) });
export const keyIdParam = Type.Object({ id: Type.String({ pattern: '^[0-9A-Za-z]{12}$' }) });
export interface IdParam {
  Params: { id: string };
}
