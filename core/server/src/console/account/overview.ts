import {
  CONSOLE_LIMITS,
  type FirstRun,
  type Me,
  type Overview,
  type OverviewLive,
} from '@svc-asr/protocol/console/console.ts';
import { outcomeOf } from '@svc-asr/protocol/console/outcome.ts';
import type { FastifyInstance } from 'fastify';
import { findAccount } from '../../accounts/accounts.ts';
import { readFirstRun } from '../../accounts/first-run.ts';
import { listReceivedInvitations } from '../../accounts/people/invitations.ts';
import { listMemberships } from '../../accounts/people/members.ts';
import { operatorInbox } from '../../accounts/operator-inbox.ts';
import { usageByDay } from '../../accounts/usage-days.ts';
import { availableMsOf, balance } from '../../ledger/reports/balance.ts';
import { closeCodesOf } from '../../ledger/reports/session-list.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { memberOf, signedInOf } from '../request/guard.ts';
import { databaseTime } from '../../platform/database/time.ts';

export function meRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get('/me', async (request): Promise<Me> => {
    const { userId, email, language, operator, account, verifiedBy } = signedInOf(request);
    const isAtDesk = operator && verifiedBy === 'passkey';
    const [accounts, invitations, availableMs, waiting] = await Promise.all([
      listMemberships(deps.db, userId),
      listReceivedInvitations(deps.db, userId),
      account === null ? 0 : availableMsOf(deps.db, account.id),
      isAtDesk ? operatorInbox(deps.db) : null,
    ]);
    return {
      email,
      language,
      operator,
      account: account === null ? null : { ...account, available_ms: availableMs },
      accounts: accounts.map(({ accountId, accountName, role }) => ({
        id: accountId,
        name: accountName,
        role,
      })),
      invitations: invitations.length,
      waiting:
        waiting === null
          ? null
          : {
              waitlist: waiting.waitlist,
              requests: waiting.requests,
              failures: waiting.failures,
            },
    };
  });
}

export function overviewRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get('/overview', async (request): Promise<Overview> => {
    const { accountId } = memberOf(request);
    const days = await usageByDay(deps.db, { accountId, days: CONSOLE_LIMITS.usageDays });
    const { sessions, ...credit } = await balanceNow(deps, accountId);
    const account = await findAccount(deps.db, accountId);
    return {
      ...credit,
      sessions,
      concurrency_limit: account?.concurrencyLimit ?? 0,
      first_run: await readFirstRun(deps.db, accountId),
      days: days.map(({ date, model, billableMs, sessions: count }) => ({
        date,
        model,
        billable_ms: billableMs,
        sessions: count,
      })),
    };
  });

  // The page asks for it every two seconds while a step is open.
  app.get('/first-run', (request): Promise<FirstRun> =>
    readFirstRun(deps.db, memberOf(request).accountId),
  );

  // The page asks for it every two seconds while a session is live.
  app.get('/overview/live', async (request): Promise<OverviewLive> => {
    const { sessions, ...credit } = await balanceNow(deps, memberOf(request).accountId);
    return { ...credit, sessions: sessions.filter(({ completed_at }) => completed_at === null) };
  });
}

async function balanceNow({ db }: ConsoleDeps, accountId: string): Promise<OverviewLive> {
  const account = await balance(db, accountId);
  if (account === null) throw new ConsoleError('not_found');
  const ids = account.recentSessions.map(({ id }) => id);
  const [closeCodes, now] = await Promise.all([
    closeCodesOf(db, { accountId, ids }),
    databaseTime(db),
  ]);
  return {
    available_ms: account.availableMs,
    reserved_ms: account.reservedMs,
    consumed_ms: account.consumedMs,
    sessions: account.recentSessions.map((session) => ({
      id: session.id,
      model: session.model,
      status: session.status,
      outcome: outcomeOf({
        status: session.status,
        close_code: closeCodes.get(session.id) ?? null,
      }),
      reserved_ms: session.reservedMs,
      audio_ms: session.audioMs,
      billable_ms: session.billableMs,
      created_at: session.createdAt.toISOString(),
      expires_at: session.expiresAt.toISOString(),
      completed_at: session.completedAt?.toISOString() ?? null,
    })),
    now: now.toISOString(),
  };
}
