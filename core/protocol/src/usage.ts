import { Type, type Static } from 'typebox';
import { LIMITS } from './constants.ts';
import { ModelIdSchema } from './models.ts';
import { Closed, constant, count, dateTime, uuid } from './schema.ts';

export const SESSION_STATUSES = ['reserved', 'active', 'completed', 'failed', 'expired'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export const SessionStatusSchema = Type.Enum([...SESSION_STATUSES], {
  title: 'SessionStatus',
  description:
    '`reserved`: created, not opened yet. `active`: streaming. `completed`: ended and charged for its accepted audio. ' +
    '`failed`: ended by our fault, free. `expired`: never opened, free.',
});

export const UsageSession = Closed(
  {
    id: uuid('The id of the session.'),
    model: ModelIdSchema,
    status: SessionStatusSchema,
    audio_ms: Type.Integer({
      minimum: 0,
      description: 'Accepted audio. For an active session it is at most 5 seconds old.',
    }),
    billable_ms: count(
      'The charge: accepted audio, rounded up to a whole second. 0 until the session has completed.',
    ),
    created_at: dateTime('When the session was created.'),
    completed_at: Type.Union([dateTime('When the session ended. Null until then.'), Type.Null()]),
  },
  'UsageSession',
  'One session and its charge.',
);
export type UsageSession = Static<typeof UsageSession>;

export const CreditBalance = Closed(
  {
    object: constant('credit_balance', 'The type of the object.'),
    unit: constant('audio_millisecond', 'The unit of the amounts.'),
    available_ms: count('Credit that new sessions can reserve.'),
    reserved_ms: count('Credit that reserved and active sessions hold.'),
    consumed_ms: count('Credit that completed sessions were charged.'),
    recent_sessions: Type.Array(UsageSession, {
      maxItems: LIMITS.recentSessions,
      description: `The latest sessions, newest first, live ones included. At most ${LIMITS.recentSessions}.`,
    }),
  },
  'CreditBalance',
  'The credit of the account and its latest sessions.',
);
export type CreditBalance = Static<typeof CreditBalance>;
