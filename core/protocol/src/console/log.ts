import { Type, type Static } from 'typebox';
import { Closed, Count, DateTime, Uuid } from '../schema.ts';

/** Messages of the console's Log page. */

const NullableText = Type.Union([Type.String(), Type.Null()]);

/** Everything is text, because it comes from the address of the page. */
export const LogQuery = Closed(
  {
    /** Only calls that were refused or failed. */
    show: Type.Optional(Type.Enum(['refused'])),
    /** A request id or session id. */
    id: Type.Optional(Uuid),
    /** `next` of the page before. */
    before: Type.Optional(
      Type.String({ pattern: '^[0-9]{13}\\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
    ),
  },
  'LogQuery',
);
export type LogQuery = Static<typeof LogQuery>;

export const LoggedCall = Closed(
  {
    at: DateTime,
    request_id: Uuid,
    method: Type.String(),
    route: Type.String(),
    status: Count,
    code: NullableText,
    /** The message of the response: what happened and what to do. Null: the call succeeded. */
    message: NullableText,
    /** Null: an upgrade to a session of the playground. */
    key_id: NullableText,
    session_id: Type.Union([Uuid, Type.Null()]),
    took_ms: Count,
    /** Calls of the same second that were alike and are not listed. */
    more: Count,
  },
  'LoggedCall',
);
export type LoggedCall = Static<typeof LoggedCall>;

export const LogPage = Closed(
  {
    data: Type.Array(LoggedCall),
    /** For the page after this one, or null. */
    next: NullableText,
  },
  'LogPage',
);
export type LogPage = Static<typeof LogPage>;
