import { Erase } from '@svc-asr/protocol/console/console.ts';
import type { FastifyInstance } from 'fastify';
import { eraseAccount, findAccount } from '../../accounts/accounts.ts';
import { parseEmail } from '../../accounts/people/email-address.ts';
import { listApiKeys } from '../../accounts/keys/api-keys.ts';
import { CALL_COLUMNS } from '../../accounts/logs/call-log.ts';
import { listCreditRequestsOf } from '../../accounts/credit-requests.ts';
import { listMembers } from '../../accounts/people/members.ts';
import { listPasskeys } from '../../accounts/people/passkeys.ts';
import { audited, memberOf, requireOwner } from '../request/guard.ts';
import { listSessions } from '../sign-in/browser-sessions.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { CLEARED_COOKIE } from '../request/cookies.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t } from '../../platform/database/statement.ts';

const SESSIONS_MAX = 10_000;
const SESSIONS = statement(
  `select id, model, status, reserved_ms, audio_ms, billable_ms, created_at, completed_at
    from sessions where account_id = $1 order by created_at desc limit $2`,
  {
    id: t.text(),
    model: t.text(),
    status: t.text(),
    reserved_ms: t.number(),
    audio_ms: t.number(),
    billable_ms: t.number(),
    created_at: t.timestamp(),
    completed_at: t.nullable(t.timestamp()),
  },
);

const STREAMS = statement(
  `select session_id, request_id, origin, client, close_code, close_reason, recorded_at
    from session_details where account_id = $1 order by recorded_at desc limit $2`,
  {
    session_id: t.text(),
    request_id: t.text(),
    origin: t.nullable(t.text()),
    client: t.nullable(t.text()),
    close_code: t.number(),
    close_reason: t.text(),
    recorded_at: t.timestamp(),
  },
);

const CALLS = statement(
  `select at, request_id, method, route, status, code, key_id, session_id, took_ms, more
    from api_calls where account_id = $1 order by at desc limit $2`,
  CALL_COLUMNS,
);

/** Exports all data of an account, and erases it. */
export function dataRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get('/data', async (request, reply) => {
    const member = memberOf(request);
    const data = await deps.downloads.run(member.accountId, () => readData(deps.db, member));
    void reply.header('content-disposition', 'attachment; filename="svc-asr-data.json"');
    return data;
  });

  app.post<{ Body: { confirm_email: string } }>(
    '/erase',
    { onRequest: requireOwner, schema: { body: Erase } },
    async (request, reply) => {
      const { accountId, email } = memberOf(request);
      if (parseEmail(request.body.confirm_email) !== email) {
        throw new ConsoleError('erasure_not_confirmed');
      }
      const erased = await audited(deps.db, request, (db) => eraseAccount(db, accountId));
      if (!erased) throw new ConsoleError('session_in_progress');
      void reply.header('set-cookie', CLEARED_COOKIE);
      return {};
    },
  );
}

/** One query after the other, so that an export uses one connection. */
async function readData(
  db: Queryable,
  { accountId, userId, token }: { accountId: string; userId: string; token: string },
): Promise<Readonly<Record<string, unknown>>> {
  const passkeys = await listPasskeys(db, userId);
  return {
    note: 'All data stored about this account. Audio and transcripts are never stored.',
    account: await findAccount(db, accountId),
    members: await listMembers(db, accountId),
    your_passkeys: passkeys.map(({ name, createdAt, lastUsedAt }) => ({
      name,
      createdAt,
      lastUsedAt,
    })),
    your_devices: await listSessions(db, token),
    api_keys: await listApiKeys(db, accountId),
    sessions: await queryRows(db, SESSIONS, [accountId, SESSIONS_MAX]),
    streams: await queryRows(db, STREAMS, [accountId, SESSIONS_MAX]),
    calls: await queryRows(db, CALLS, [accountId, SESSIONS_MAX]),
    credit_requests: await listCreditRequestsOf(db, { accountId, limit: SESSIONS_MAX }),
    sessions_listed_at_most: SESSIONS_MAX,
  };
}
