import { CreateSessionRequest, isModelId, LIMITS, type AsrSession } from '@svc-asr/protocol';
import type { PlaygroundCredit, PlaygroundReceipt } from '@svc-asr/protocol/console/console.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../platform/api-error.ts';
import { openReservation, presentSession } from '../../sessions/new-session.ts';
import { balance } from '../../ledger/reports/balance.ts';
import type { Balance } from '../../ledger/types.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { memberOf } from '../request/guard.ts';
import { idParam, type IdParam } from '../request/params.ts';

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

  app.get('/playground/credit', async (request): Promise<PlaygroundCredit> => {
    const { availableMs } = await readBalance(deps, request);
    return { available_ms: availableMs };
  });

  app.get<IdParam>(
    '/playground/session/:id',
    { schema: { params: idParam } },
    async (request): Promise<PlaygroundReceipt> => {
      const account = await readBalance(deps, request);
      // A page asks right after its session, which is then among the account's newest.
      const session = account.recentSessions.find(({ id }) => id === request.params.id);
      if (session === undefined) throw new ConsoleError('not_found');
      return {
        status: session.status,
        settled: session.completedAt !== null,
        audio_ms: session.audioMs,
        billable_ms: session.billableMs,
        available_ms: account.availableMs,
      };
    },
  );
}

async function readBalance(deps: ConsoleDeps, request: FastifyRequest): Promise<Balance> {
  const account = await balance(deps.db, memberOf(request).accountId);
  if (account === null) throw new ConsoleError('not_found');
  return account;
}
