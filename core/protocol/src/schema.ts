import { Type, type TSchema } from 'typebox';

/** Schemas that several resources share. */

export const Uuid = Type.String({ format: 'uuid' });
export const DateTime = Type.String({ format: 'date-time' });
/** A day of a filter in UTC, or the moment when it begins in another zone: 2026-11-19T00:00:00+03:00. */
export const FilterDay = Type.Union([Type.String({ format: 'date' }), DateTime]);
export const Count = Type.Integer({ minimum: 0 });

/** The same with a description, which every field of a published document has. */

export function uuid(description: string) {
  return Type.String({ format: 'uuid', description });
}

export function dateTime(description: string) {
  return Type.String({ format: 'date-time', description });
}

export function count(description: string) {
  return Type.Integer({ minimum: 0, description });
}

export function constant<const T extends string | number>(value: T, description: string) {
  return Type.Literal(value, { description });
}

/** An object without additional properties. v1 may add fields to sent objects, never to accepted ones. */
export function Closed<P extends Record<string, TSchema>>(
  properties: P,
  title: string,
  description?: string,
) {
  const text = description === undefined ? { title } : { title, description };
  return Type.Object(properties, { additionalProperties: false, ...text });
}
