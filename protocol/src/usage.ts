import { Type, type Static } from 'typebox';
import { LIMITS } from './constants.ts';
import { ModelIdSchema } from './models.ts';
import { Closed, Count, DateTime, Uuid } from './schema.ts';

export const SESSION_STATUSES = ['reserved', 'active', 'completed', 'failed', 'expired'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export const SessionStatusSchema = Type.Enum([...SESSION_STATUSES], { title: 'SessionStatus' });

export const UsageSession = Closed(
  {
    id: Uuid,
    model: ModelIdSchema,
    status: SessionStatusSchema,
    audio_ms: Type.Integer({
      minimum: 0,
      description: 'Accepted audio. For an active session it is at most 5 seconds old.',
    }),
    billable_ms: Count,
    created_at: DateTime,
    completed_at: Type.Union([DateTime, Type.Null()]),
  },
  'UsageSession',
);
export type UsageSession = Static<typeof UsageSession>;

export const CreditBalance = Closed(
  {
    object: Type.Literal('credit_balance'),
    unit: Type.Literal('audio_millisecond'),
    available_ms: Count,
    reserved_ms: Count,
    consumed_ms: Count,
    recent_sessions: Type.Array(UsageSession, { maxItems: LIMITS.recentSessions }),
  },
  'CreditBalance',
);
export type CreditBalance = Static<typeof CreditBalance>;
