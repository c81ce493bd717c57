import { CreateSessionRequest, isModelId, LIMITS, type AsrSession } from '@svc-asr/protocol';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors.ts';
import { openReservation, presentSession } from '../new-session.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { signedInOf } from './guard.ts';

/** A session on behalf of whoever is signed in. No API key takes part: the browser gets the session and no more. */
export function playgroundRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.post<{ Body: CreateSessionRequest }>(
    '/playground/session',
    { schema: { body: CreateSessionRequest } },
    async (request, reply): Promise<AsrSession> => {
      const { accountId, accountActive } = signedInOf(request);
      const { model, max_audio_seconds: seconds = LIMITS.audioSecondsDefault } = request.body;
      const { allowed, resetSeconds } = deps.service.limiters.sessions.take(accountId);
      if (!allowed)
        throw new ApiError('request_rate_exceeded', { retryAfterSeconds: resetSeconds });
      if (!isModelId(model)) throw new ApiError('model_not_found');
      if (!accountActive) throw new ApiError('account_inactive');
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
