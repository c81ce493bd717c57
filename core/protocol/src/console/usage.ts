import { Type, type Static } from 'typebox';
import { MODEL_IDS } from '../constants.ts';
import { Closed, Count } from '../schema.ts';
import { KEY_FILTER_PATTERN } from './constants.ts';

/** Messages of the console's Usage page. */

const Day = Type.String({ format: 'date' });
const NullableText = Type.Union([Type.String(), Type.Null()]);

/** UTC days, both included. Without them: this month so far. */
export const UsageQuery = Closed(
  {
    from: Type.Optional(Day),
    to: Type.Optional(Day),
    model: Type.Optional(Type.Enum([...MODEL_IDS])),
    /** The public id of a key, or `none` for the playground. */
    key: Type.Optional(Type.String({ pattern: KEY_FILTER_PATTERN })),
  },
  'UsageQuery',
);
export type UsageQuery = Static<typeof UsageQuery>;

export const UsageLine = Closed(
  {
    day: Day,
    model: Type.Enum([...MODEL_IDS]),
    /** Null: the playground. */
    key_id: NullableText,
    key_name: NullableText,
    billable_ms: Count,
    sessions: Count,
  },
  'UsageLine',
);
export type UsageLine = Static<typeof UsageLine>;

export const UsageReport = Closed(
  {
    from: Day,
    to: Day,
    today: Day,
    data: Type.Array(UsageLine),
    /** All keys of these days, whatever the filter. `none`: the playground. */
    keys: Type.Array(Closed({ id: Type.String(), name: NullableText }, 'UsageKey')),
    /** Charged in as many days before, with the same filter. */
    previous_ms: Count,
    available_ms: Count,
    /** False: the range has more lines, or very many sessions are still being added up. */
    complete: Type.Boolean(),
  },
  'UsageReport',
);
export type UsageReport = Static<typeof UsageReport>;
