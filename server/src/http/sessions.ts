import {
  AUDIO,
  CONCURRENCY_MESSAGES,
  CONTEXT_SIZE,
  CreateSessionRequest,
  IDEMPOTENCY_KEY_PATTERN,
  isModelId,
  LIMITS,
  SUBPROTOCOL,
  type AsrSession,
} from '@svc-asr/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { ReservedSession, ReserveResult } from '../ledger/ledger.ts';
import { withinDeadline } from './deadline.ts';
import { authenticateCaller, callerOf, limitRate } from './guard.ts';
import { isJsonMediaType } from './request-body.ts';

const IDEMPOTENCY_KEY = new RegExp(IDEMPOTENCY_KEY_PATTERN);

/** POST /v1/asr/sessions: who, how often, what kind of body; then may you, can you, do it, show it. */
export function sessionRoutes(app: FastifyInstance, deps: Deps): void {
  const onRequest = [
    authenticateCaller(deps),
    limitRate('sessions', deps.limiters.sessions, (request) => callerOf(request).accountId),
    requireJson,
  ];
  app.post<{ Body: CreateSessionRequest }>(
    '/v1/asr/sessions',
    {
      onRequest,
      preValidation: requireUsableIdempotencyKey,
      bodyLimit: LIMITS.requestBodyBytes,
      schema: { body: CreateSessionRequest },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { model, max_audio_seconds = LIMITS.audioSecondsDefault } = request.body;
      if (!isModelId(model)) throw new ApiError('model_not_found');
      if (!caller.models.has(model)) throw new ApiError('model_scope_denied');

      // A process on its way out still answers replays; without a node nothing new is reserved.
      const { draining } = deps.lifecycle;
      const reservation = await withinDeadline(
        deps.ledger.reserve({
          accountId: caller.accountId,
          keyId: caller.keyId,
          model,
          requestedMs: max_audio_seconds * 1000,
          idempotencyKey: idempotencyKeyOf(request),
          node: draining ? null : deps.placement.choose(model),
        }),
      );
      const { session, replayed } = requireReserved(reservation, draining);
      if (replayed) void reply.header('idempotent-replayed', 'true');
      void reply.code(201).header('cache-control', 'no-store');
      return presentSession(session, deps);
    },
  );
}

async function requireJson(request: FastifyRequest): Promise<void> {
  if (!isJsonMediaType(request.headers['content-type'])) {
    throw new ApiError('unsupported_media_type');
  }
}

async function requireUsableIdempotencyKey(request: FastifyRequest): Promise<void> {
  const key = idempotencyKeyOf(request);
  if (key !== null && !IDEMPOTENCY_KEY.test(key)) throw new ApiError('invalid_idempotency_key');
}

/** A header sent twice arrives joined by a comma, which no valid key holds. */
function idempotencyKeyOf(request: FastifyRequest): string | null {
  const value = request.headers['idempotency-key'];
  return value === undefined ? null : String(value);
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

function presentSession(session: ReservedSession, deps: Deps): AsrSession {
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
