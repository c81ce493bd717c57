import type { CreditBalance } from '@svc-asr/protocol';
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { ApiError } from '../platform/api-error.ts';
import type { Balance } from '../ledger/ledger.ts';
import { withinDeadline } from '../platform/deadline.ts';
import { authenticateCaller, callerOf, limitRate, partitionOf } from './guard.ts';

/** GET /v1/usage: available, reserved and consumed credit, and the latest sessions. */
export function usageRoutes(app: FastifyInstance, deps: Deps): void {
  const onRequest = [
    authenticateCaller(deps),
    limitRate('usage', deps.limiters.usage, (request) => callerOf(request).accountId),
  ];
  app.get('/v1/usage', { onRequest }, async (request, reply) => {
    const balance = await withinDeadline(deps.ledger.balance(callerOf(request).accountId));
    if (balance === null) throw new ApiError('account_inactive');
    // Programs that serve several keys count by account.
    const limit = String(reply.getHeader('ratelimit'));
    const partition = partitionOf(callerOf(request).accountId);
    void reply
      .header('cache-control', 'no-store')
      .header('ratelimit', `${limit};pk=:${partition}:`);
    return presentBalance(balance);
  });
}

function presentBalance(balance: Balance): CreditBalance {
  return {
    object: 'credit_balance',
    unit: 'audio_millisecond',
    available_ms: balance.availableMs,
    reserved_ms: balance.reservedMs,
    consumed_ms: balance.consumedMs,
    recent_sessions: balance.recentSessions.map((session) => ({
      id: session.id,
      model: session.model,
      status: session.status,
      audio_ms: session.audioMs,
      billable_ms: session.billableMs,
      created_at: session.createdAt.toISOString(),
      completed_at: session.completedAt?.toISOString() ?? null,
    })),
  };
}
