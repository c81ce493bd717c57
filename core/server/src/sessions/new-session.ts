import {
  AUDIO,
  CONTEXT_SIZE,
  SPECIFIC_MESSAGES,
  SUBPROTOCOL,
  type AsrSession,
  type ModelId,
} from '@svc-asr/protocol';
import { readLostKey } from '@svc-asr/protocol/lost-host.ts';
import { withinDeadline } from '../platform/deadline.ts';
import { ApiError } from '../platform/api-error.ts';
import type { Clock } from '../platform/clock.ts';
import type { Lifecycle } from '../platform/lifecycle.ts';
import type { Queryable } from '../platform/database/db.ts';
import { requestTakeover } from './lost-sessions.ts';
import type { Credentials } from './credentials.ts';
import type { Placement } from './placement.ts';
import type { Ledger, ReservedSession, ReserveInput, ReserveResult } from '../ledger/ledger.ts';

/** The default Retry-After of service_restarting. */
const RETRY_ELSEWHERE_MS = 2_000;
/** While an account moves to another cell. Most moves take a few seconds. */
const RETRY_MOVE_SECONDS = 2;

export interface ReservationDeps {
  readonly lifecycle: Lifecycle;
  readonly placement: Placement;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly credentials: Credentials;
  readonly db: Queryable;
}

/** Reserves a new session, for the API (with a key) and for the console (signed in). */
export async function openReservation(deps: ReservationDeps, input: Omit<ReserveInput, 'node'>) {
  // A draining process still answers replays. Without a node nothing new is reserved.
  const { draining } = deps.lifecycle;
  const known = readLostKey(input.idempotencyKey);
  const lost = known === null ? null : { host: known.host, accountId: input.accountId };
  const node = draining ? null : deps.placement.choose(input.model, lost);
  // A lost session makes room for this caller, or for another one of its account.
  const session = known?.session ?? null;
  if (session !== null) await withinDeadline(requestTakeover(deps, input.accountId, session));
  const reservation = await withinDeadline(deps.ledger.reserve({ ...input, node }));
  if (draining && reservation.outcome === 'no_capacity') throw restarting(deps, input.model);
  return requireReserved(reservation);
}

/** With another node alive, a retry reaches it at once. Otherwise nothing is reserved before the drain ends. */
function restarting({ clock, lifecycle, placement }: ReservationDeps, model: ModelId): ApiError {
  const leftMs = (lifecycle.drainDeadlineAtMs ?? 0) - clock.monotonicMs();
  return placement.choose(model) === null && leftMs > RETRY_ELSEWHERE_MS
    ? new ApiError('service_restarting', { retryAfterSeconds: Math.ceil(leftMs / 1000) })
    : new ApiError('service_restarting');
}

function requireReserved(reservation: ReserveResult) {
  switch (reservation.outcome) {
    case 'reserved':
      return reservation;
    case 'concurrency_limit_exceeded':
      throw new ApiError(reservation.outcome, {
        message: SPECIFIC_MESSAGES.concurrency_limit_exceeded[reservation.blocker],
        retryAfterSeconds: Math.ceil(reservation.retryAfterMs / 1000),
      });
    case 'no_capacity':
      throw new ApiError('capacity_exceeded');
    case 'account_moving':
      throw new ApiError('service_unavailable', { retryAfterSeconds: RETRY_MOVE_SECONDS });
    case 'idempotency_conflict':
    case 'insufficient_credits':
    case 'account_inactive':
      throw new ApiError(reservation.outcome);
  }
}

export function presentSession(
  session: ReservedSession,
  deps: { readonly credentials: Credentials },
): AsrSession {
  const reservedSeconds = session.reservedMs / 1000;
  const credential = deps.credentials.issue({
    sessionId: session.id,
    accountId: session.accountId,
    expiresAtMs: session.expiresAt.getTime(),
  });
  return {
    id: session.id,
    object: 'asr.session',
    status: 'reserved',
    model: session.model,
    websocket_url: session.websocketUrl,
    websocket_protocols: [SUBPROTOCOL, credential],
    expires_at: session.expiresAt.toISOString(),
    audio: {
      encoding: AUDIO.encoding,
      sample_rate_hz: AUDIO.sampleRateHz,
      channels: AUDIO.channels,
      max_audio_seconds: reservedSeconds,
      context_size: [CONTEXT_SIZE[0], CONTEXT_SIZE[1]],
    },
    credits: {
      unit: 'audio_second',
      reserved: reservedSeconds,
      remaining: Math.floor(session.remainingMs / 1000),
    },
  };
}
