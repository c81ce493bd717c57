import { Type, type Static } from 'typebox';
import { MODEL_IDS } from '../constants.ts';
import { Closed, Count } from '../schema.ts';

/** Messages of the console's Usage page. */

const Day = Type.String({ format: 'date' });
const NullableText = Type.Union([Type.String(), Type.Null()]);

/** UTC days, both included. Without them: this month so far. */
export const UsageQuery = Closed(
  { from: Type.Optional(Day), to: Type.Optional(Day) },
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
    data: Type.Array(UsageLine),
    /** False: the range has more lines, or very many sessions are still being added up. */
    complete: Type.Boolean(),
  },
  'UsageReport',
);
export type UsageReport = Static<typeof UsageReport>;
