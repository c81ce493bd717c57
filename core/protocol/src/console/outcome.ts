import type { SessionStatus } from '../usage.ts';

/**
 * How a session went, as people mean it. The ledger's `completed` says only that accepted audio was charged.
 * `error`: the server closed the stream because of its client. `failed`: our fault, and free.
 */
export const OUTCOMES = ['reserved', 'active', 'completed', 'error', 'failed', 'expired'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Filters of the list of sessions. `problem` finds both kinds of failure. */
export const OUTCOME_FILTERS = [...OUTCOMES, 'problem'] as const;
export type OutcomeFilter = (typeof OUTCOME_FILTERS)[number];

interface Ended {
  readonly status: SessionStatus;
  /** Null: the stream has not ended, was never opened, or its details are deleted. */
  readonly close_code: number | null;
}

/** A close code other than this one ended the stream early. */
const NORMAL_CLOSE = 1_000;

export function outcomeOf({ status, close_code }: Ended): Outcome {
  const isNormal = close_code === null || close_code === NORMAL_CLOSE;
  return status === 'completed' && !isNormal ? 'error' : status;
}

/** The outcomes that a filter finds. */
export function outcomesOf(filter: OutcomeFilter): readonly Outcome[] {
  return filter === 'problem' ? ['error', 'failed'] : [filter];
}

/**
 * Why a session ended early: the code of its error. A node that was lost reports nothing, so that a failed session
 * without a report lost its node. Null: there is nothing to explain.
 */
export function causeOf(
  session: Ended & {
    readonly close_reason: string | null;
    /** Whether a client opened the stream. */
    readonly isOpened: boolean;
  },
): string | null {
  switch (outcomeOf(session)) {
    case 'error':
      return session.close_reason;
    case 'failed':
      return session.close_reason ?? (session.isOpened ? 'node_lost' : 'node_lost_before_start');
    case 'reserved':
    case 'active':
    case 'completed':
    case 'expired':
      return null;
  }
}
