import { Type, type TSchema } from 'typebox';

/** The building blocks that several resources share. */

export const Uuid = Type.String({ format: 'uuid' });
export const DateTime = Type.String({ format: 'date-time' });
export const Count = Type.Integer({ minimum: 0 });

/** An object that names all it may hold. What we send may gain fields inside v1, what we accept may not. */
export function Closed<P extends Record<string, TSchema>>(properties: P, title: string) {
  return Type.Object(properties, { additionalProperties: false, title });
}
