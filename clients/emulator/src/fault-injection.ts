import type { Deps } from '@svc-asr/server/deps.ts';
import type { Pool } from '@svc-asr/server/platform/database/db.ts';
import type { Ledger, ReserveResult } from '@svc-asr/server/ledger/ledger.ts';
import type { FaultName, Faults } from './faults.ts';
import { ApiError } from '@svc-asr/server/platform/api-error.ts';
import { expireSession } from './expire-session.ts';
import type { OpenRequests } from './open-requests.ts';

/**
 * Wraps real parts of the server. A wrapped part reports what it would report in the real situation, and the server
 * itself builds the response.
 */

const RETRY_AFTER_MS = 1_000;

const RESERVE_FAULTS = {
  'no-credit': { outcome: 'insufficient_credits' },
  'busy-account': {
    outcome: 'concurrency_limit_exceeded',
    blocker: 'active',
    retryAfterMs: RETRY_AFTER_MS,
  },
  unavailable: { outcome: 'no_capacity' },
} as const satisfies Partial<Record<FaultName, ReserveResult>>;

export function faultyLedger(ledger: Ledger, faults: Faults, owner: Pool): Ledger {
  return {
    ...ledger,
    reserve(input) {
      const fault = faults.strike('no-credit', 'busy-account', 'unavailable');
      return fault === null ? ledger.reserve(input) : Promise.resolve(RESERVE_FAULTS[fault.name]);
    },
    async claim(input) {
      if (faults.strike('expired-credential') !== null) await expireSession(owner, input.sessionId);
      return ledger.claim(input);
    },
  };
}

export function faultyLimiters(
  limiters: Deps['limiters'],
  { faults, requests }: { readonly faults: Faults; readonly requests: OpenRequests },
): Deps['limiters'] {
  const { sessions } = limiters;
  return {
    ...limiters,
    sessions: {
      ...sessions,
      async take(key) {
        const decision = await sessions.take(key);
        switch (faults.strike('rate-limit', 'revoked-key', 'http-500', 'http-hang')?.name) {
          case 'rate-limit':
            return { ...decision, allowed: false, resetSeconds: RETRY_AFTER_MS / 1000 };
          case 'revoked-key':
            throw new ApiError('revoked_api_key');
          case 'http-500':
            return requests.fail();
          case 'http-hang':
            return requests.hang();
          case undefined:
            return decision;
        }
      },
    },
  };
}
