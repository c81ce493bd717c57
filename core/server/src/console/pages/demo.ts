import type { AsrSession } from '@svc-asr/protocol';
import { CONSOLE_LIMITS, StartDemo, type DemoState } from '@svc-asr/protocol/console/console.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { blockOf, networkOf } from '@svc-asr/runtime/network.ts';
import { findAccount } from '../../accounts/accounts.ts';
import { ApiError } from '../../platform/api-error.ts';
import { createRateLimiter } from '../../platform/network/rate-limit.ts';
import { queryRows, statement, t } from '../../platform/database/statement.ts';
import { openReservation, presentSession } from '../../sessions/new-session.ts';
import type { Deps } from '../../deps.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { limitForms } from '../request/guard.ts';
import { keyed } from '../../accounts/people/sign-in-code.ts';

type Claim = 'claimed' | 'used' | 'closed';
const CLAIM = statement('select claim_demo($1, $2, $3) as claim', { claim: t.text<Claim>() });
const STATE = statement('select demo_state($1, $2, $3, $4, $5) as state', {
  state: t.text<DemoState['state']>(),
});
/** Views of the public page. They are not forms, so that they can't lock a network out of the sign-in. */
const LOOKS = { perMinute: 60, burst: 60 };
const SESSION_MS = CONSOLE_LIMITS.demoSeconds * 1_000;

/** Refusals of the ledger that say that the pool is empty or switched off. */
const CLOSED = new Set(['insufficient_credits', 'account_inactive']);

/**
 * A short session for a visitor of the public page, paid from the account of the operator's choice. Its credit and its
 * concurrency limit bound the cost, like those of any account. One per network and UTC day, and a tenth of all for one
 * block of networks.
 */
export function demoRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const { demo } = deps.service.config.console;
  const [secret] = deps.secrets;
  if (demo === null || secret === undefined) return;
  const keysOf = ({ ip }: FastifyRequest) => ({
    network: keyed(secret, `demo ${networkOf(ip)}`),
    block: keyed(secret, `demo block ${blockOf(ip)}`),
  });
  const looks = createRateLimiter(LOOKS, deps.service.clock);
  app.get('/demo', async (request): Promise<DemoState> => {
    const { allowed, resetSeconds } = looks.take(networkOf(request.ip));
    if (!allowed) throw new ApiError('request_rate_exceeded', { retryAfterSeconds: resetSeconds });
    const { network, block } = keysOf(request);
    const values = [network, demo.perDay, block, demo.accountId, SESSION_MS];
    const [row] = await queryRows(deps.db, STATE, values);
    return { state: row?.state ?? 'closed' };
  });
  app.post<{ Body: StartDemo }>(
    '/demo/session',
    { onRequest: limitForms(deps), schema: { body: StartDemo } },
    async (request, reply): Promise<AsrSession> => {
      const { network, block } = keysOf(request);
      const [row] = await queryRows(deps.db, CLAIM, [network, demo.perDay, block]);
      if (row?.claim === 'used') throw new ConsoleError('demo_used');
      if (row?.claim !== 'claimed') throw new ConsoleError('demo_closed');
      try {
        const { session } = await openReservation(deps.service, {
          accountId: demo.accountId,
          keyId: null,
          model: request.body.model,
          requestedMs: SESSION_MS,
          idempotencyKey: null,
        });
        void reply.code(201);
        return presentSession(session, deps.service);
      } catch (error) {
        await deps.db.query('select release_demo($1)', [network]);
        if (error instanceof ApiError && CLOSED.has(error.code)) {
          throw new ConsoleError('demo_closed');
        }
        throw error;
      }
    },
  );
}

/** The demo looks closed to visitors if its account can't pay, so that only the log can say why. */
export async function warnOfClosedDemo({ db, config, log }: Deps): Promise<void> {
  if (config.console.demo === null) return;
  const account = await findAccount(db, config.console.demo.accountId);
  if (account?.status === 'active') return;
  log.warn(
    'The demo on the public page is closed: set DEMO_ACCOUNT to the id of an active account and restart.',
  );
}
