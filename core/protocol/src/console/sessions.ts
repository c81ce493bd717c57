import { Type, type Static } from 'typebox';
import { MODEL_IDS } from '../constants.ts';
import { ConsoleSession } from './console.ts';
import { KEY_FILTER_PATTERN, ORIGIN_LENGTH_MAX } from './constants.ts';
import { OUTCOME_FILTERS } from './outcome.ts';
import { Closed, Count, DateTime, FilterDay, Uuid } from '../schema.ts';

/** Messages of the console's Sessions pages. */

const NullableText = Type.Union([Type.String(), Type.Null()]);
const NullableCount = Type.Union([Count, Type.Null()]);

/** Everything is text, because it comes from the address of the page. */
export const SessionQuery = Closed(
  {
    /** Both days are included. */
    from: Type.Optional(FilterDay),
    to: Type.Optional(FilterDay),
    model: Type.Optional(Type.Enum([...MODEL_IDS])),
    /** The public id of a key, or `none` for sessions of the playground. */
    key: Type.Optional(Type.String({ pattern: KEY_FILTER_PATTERN })),
    status: Type.Optional(Type.Enum([...OUTCOME_FILTERS])),
    /** An origin, or `none` for clients other than browsers. */
    origin: Type.Optional(Type.String({ minLength: 1, maxLength: ORIGIN_LENGTH_MAX })),
    /** A session id, or the request id of its stream or of a call that created it. */
    id: Type.Optional(Uuid),
    /** `next` of the page before. */
    before: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
  },
  'SessionQuery',
);
export type SessionQuery = Static<typeof SessionQuery>;

export const ListedSession = Closed(
  {
    ...ConsoleSession.properties,
    /** Null: created in the playground. */
    key_id: NullableText,
    key_name: NullableText,
    origin: NullableText,
    client: NullableText,
    close_code: NullableCount,
    close_reason: NullableText,
    /** Why it ended early: the code of its error. Null: it did not. */
    cause: NullableText,
  },
  'ListedSession',
);
export type ListedSession = Static<typeof ListedSession>;

export const SessionPage = Closed(
  {
    data: Type.Array(ListedSession),
    /** For the page after this one, or null. */
    next: NullableText,
    /** Set if the search stopped early: sessions before this time were not searched yet. */
    searched_to: Type.Union([DateTime, Type.Null()]),
    keys: Type.Array(Closed({ id: Type.String(), name: Type.String() }, 'SessionKey')),
    now: DateTime,
  },
  'SessionPage',
);
export type SessionPage = Static<typeof SessionPage>;

export const StreamReport = Closed(
  {
    /** Milliseconds since the upgrade. */
    ready_ms: NullableCount,
    first_words_ms: NullableCount,
    first_final_ms: NullableCount,
    last_final_ms: NullableCount,
    ended_ms: Count,
    finals: Count,
    delta_lag_p50_ms: NullableCount,
    delta_lag_p95_ms: NullableCount,
    gaps: Count,
    longest_gap_ms: Count,
    hints: Type.Array(Type.String()),
    audio_hint: NullableText,
  },
  'StreamReport',
);
export type StreamReport = Static<typeof StreamReport>;

export const LedgerLine = Closed(
  {
    seq: Count,
    kind: Type.String(),
    at: DateTime,
    available_ms: Type.Integer(),
    reserved_ms: Type.Integer(),
    consumed_ms: Type.Integer(),
    available_after_ms: Count,
  },
  'LedgerLine',
);
export type LedgerLine = Static<typeof LedgerLine>;

export const SessionReport = Closed(
  {
    ...ListedSession.properties,
    claimed_at: Type.Union([DateTime, Type.Null()]),
    node_id: Type.String(),
    /** Of the API call, if the Log page still has it. */
    created_request_id: NullableText,
    /** Of the WebSocket upgrade. */
    request_id: NullableText,
    /** Null: not ended yet, never opened, older than the retention, or not stored. */
    stream: Type.Union([StreamReport, Type.Null()]),
    transactions: Type.Array(LedgerLine),
    now: DateTime,
  },
  'SessionReport',
);
export type SessionReport = Static<typeof SessionReport>;
