import { CONSOLE_LIMITS, type Me, type Overview } from '@svc-asr/protocol/console.ts';
import type { FastifyInstance } from 'fastify';
import { usageByDay } from '../accounts/usage-days.ts';
import { balance } from '../ledger/balance.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError } from './console-error.ts';
import { signedInOf } from './guard.ts';

export function overviewRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get('/me', async (request): Promise<Me> => {
    const { email, role, language, operator, accountName, accountActive } = signedInOf(request);
    return {
      email,
      role,
      language,
      operator,
      account: { name: accountName, active: accountActive },
    };
  });

  app.get('/overview', async (request): Promise<Overview> => {
    const { accountId } = signedInOf(request);
    const days = await usageByDay(deps.db, { accountId, days: CONSOLE_LIMITS.usageDays });
    const books = await balance(deps.db, accountId);
    if (books === null) throw new ConsoleError('not_found');
    const { rows } = await deps.db.query<{ now: Date }>('select clock_timestamp() as now');
    return {
      available_ms: books.availableMs,
      reserved_ms: books.reservedMs,
      consumed_ms: books.consumedMs,
      sessions: books.recentSessions.map((session) => ({
        id: session.id,
        model: session.model,
        status: session.status,
        reserved_ms: session.reservedMs,
        audio_ms: session.audioMs,
        billable_ms: session.billableMs,
        created_at: session.createdAt.toISOString(),
        expires_at: session.expiresAt.toISOString(),
        completed_at: session.completedAt?.toISOString() ?? null,
      })),
      days: days.map(({ date, model, billableMs, sessions }) => ({
        date,
        model,
        billable_ms: billableMs,
        sessions,
      })),
      now: (rows[0]?.now ?? new Date()).toISOString(),
    };
  });
}
