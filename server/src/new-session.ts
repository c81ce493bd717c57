import {
  AUDIO,
  CONCURRENCY_MESSAGES,
  CONTEXT_SIZE,
  FAILURES_MESSAGE,
  SUBPROTOCOL,
  type AsrSession,
} from '@svc-asr/protocol';
import { withinDeadline } from './deadline.ts';
import type { Deps } from './deps.ts';
import { ApiError } from './errors.ts';
import type { ReservedSession, ReserveInput, ReserveResult } from './ledger/ledger.ts';

/** A new session, whichever door asks for it: the API with a key, or the console for whoever is signed in. */
export async function openReservation(deps: Deps, input: Omit<ReserveInput, 'node'>) {
  const refusedForMs = deps.failing.refusedForMs(input.accountId);
  if (refusedForMs > 0) {
    throw new ApiError('request_rate_exceeded', {
      message: FAILURES_MESSAGE,
      retryAfterSeconds: Math.ceil(refusedForMs / 1000),
    });
  }
  // A process on its way out still answers replays; without a node nothing new is reserved.
  const { draining } = deps.lifecycle;
  const node = draining ? null : deps.placement.choose(input.model);
  return requireReserved(await withinDeadline(deps.ledger.reserve({ ...input, node })), draining);
}

function requireReserved(reservation: ReserveResult, draining: boolean) {
  switch (reservation.outcome) {
    case 'reserved':
      return reservation;
    case 'concurrency_limit_exceeded':
      throw new ApiError(reservation.outcome, {
        message: CONCURRENCY_MESSAGES[reservation.blocker],
        retryAfterSeconds: Math.ceil(reservation.retryAfterMs / 1000),
      });
    case 'no_capacity':
      throw new ApiError(draining ? 'service_restarting' : 'capacity_exceeded');
    case 'idempotency_conflict':
    case 'insufficient_credits':
    case 'account_inactive':
      throw new ApiError(reservation.outcome);
  }
}

export function presentSession(session: ReservedSession, deps: Deps): AsrSession {
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
