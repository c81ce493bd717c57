import { Erase } from '@svc-asr/protocol/console.ts';
import type { FastifyInstance } from 'fastify';
import { eraseAccount, findAccount } from '../accounts/accounts.ts';
import { parseEmail } from '../accounts/email-address.ts';
import { listApiKeys } from '../accounts/api-keys.ts';
import { listMembers } from '../accounts/members.ts';
import { listPasskeys } from '../accounts/passkeys.ts';
import { audited } from './audited.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError } from './console-error.ts';
import { CLEARED_COOKIE } from './cookies.ts';
import { memberOf, requireOwner } from './guard.ts';
import { nullable, number, queryRows, statement, text, timestamp } from '../platform/statement.ts';

const SESSIONS_MAX = 10_000;
const SESSIONS = statement(
  `select id, model, status, reserved_ms, audio_ms, billable_ms, created_at, completed_at
    from sessions where account_id = $1 order by created_at desc limit $2`,
  {
    id: text(),
    model: text(),
    status: text(),
    reserved_ms: number(),
    audio_ms: number(),
    billable_ms: number(),
    created_at: timestamp(),
    completed_at: nullable(timestamp()),
  },
);

const STREAMS = statement(
  `select session_id, request_id, origin, client, close_code, close_reason, recorded_at
    from session_details where account_id = $1 order by recorded_at desc limit $2`,
  {
    session_id: text(),
    request_id: text(),
    origin: nullable(text()),
    client: nullable(text()),
    close_code: number(),
    close_reason: text(),
    recorded_at: timestamp(),
  },
);

const CALLS = statement(
  `select at, request_id, method, route, status, code, key_id, session_id, took_ms, more
    from api_calls where account_id = $1 order by at desc limit $2`,
  {
    at: timestamp(),
    request_id: text(),
    method: text(),
    route: text(),
    status: number(),
    code: nullable(text()),
    key_id: nullable(text()),
    session_id: nullable(text()),
    took_ms: number(),
    more: number(),
  },
);

/** Exports all data of an account, and erases it. */
export function dataRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get('/data', async (request, reply) => {
    const { accountId, userId } = memberOf(request);
    const [account, members, passkeys, keys, sessions, streams, calls] = await Promise.all([
      findAccount(deps.db, accountId),
      listMembers(deps.db, accountId),
      listPasskeys(deps.db, userId),
      listApiKeys(deps.db, accountId),
      queryRows(deps.db, SESSIONS, [accountId, SESSIONS_MAX]),
      queryRows(deps.db, STREAMS, [accountId, SESSIONS_MAX]),
      queryRows(deps.db, CALLS, [accountId, SESSIONS_MAX]),
    ]);
    void reply.header('content-disposition', 'attachment; filename="svc-asr-data.json"');
    return {
      note: 'All data stored about this account. Audio and transcripts are never stored.',
      account,
      members,
      your_passkeys: passkeys.map(({ name, createdAt, lastUsedAt }) => ({
        name,
        createdAt,
        lastUsedAt,
      })),
      api_keys: keys,
      sessions,
      streams,
      calls,
      sessions_listed_at_most: SESSIONS_MAX,
    };
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
