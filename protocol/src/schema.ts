import { Type, type TSchema } from 'typebox';

/** Schemas that several resources share. */

export const Uuid = Type.String({ format: 'uuid' });
export const DateTime = Type.String({ format: 'date-time' });
export const Count = Type.Integer({ minimum: 0 });

/** An object without additional properties. v1 may add fields to sent objects, never to accepted ones. */
export function Closed<P extends Record<string, TSchema>>(properties: P, title: string) {
  return Type.Object(properties, { additionalProperties: false, title });
}
