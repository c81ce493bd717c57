import { CreateSessionRequest, isModelId, LIMITS, type AsrSession } from '@svc-asr/protocol';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../platform/api-error.ts';
import { openReservation, presentSession } from '../sessions/new-session.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { memberOf } from './guard.ts';

/** Creates a session for the signed-in person. No API key is involved, and the browser gets only the session. */
export function playgroundRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.post<{ Body: CreateSessionRequest }>(
    '/playground/session',
    { schema: { body: CreateSessionRequest } },
    async (request, reply): Promise<AsrSession> => {
      const { accountId, account } = memberOf(request);
      const { model, max_audio_seconds: seconds = LIMITS.audioSecondsDefault } = request.body;
      const { allowed, resetSeconds } = await deps.service.limiters.sessions.take(accountId);
      if (!allowed)
        throw new ApiError('request_rate_exceeded', { retryAfterSeconds: resetSeconds });
      if (!isModelId(model)) throw new ApiError('model_not_found');
      if (!account.active) throw new ApiError('account_inactive');
      const { session } = await openReservation(deps.service, {
        accountId,
        keyId: null,
        model,
        requestedMs: seconds * 1_000,
        idempotencyKey: null,
      });
      void reply.code(201);
      return presentSession(session, deps.service);
    },
  );
}
