import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/console.ts';
import { causeOf, outcomeOf, outcomesOf } from '@svc-asr/protocol/console/outcome.ts';
import {
  SessionQuery,
  type ListedSession,
  type SessionPage,
  type SessionReport,
} from '@svc-asr/protocol/console/sessions.ts';
import type { FastifyInstance } from 'fastify';
import { listApiKeys } from '../../accounts/keys/api-keys.ts';
import {
  findSessionsOf,
  listSessionsOf,
  type ListedSessionRow,
  type ListedSessions,
} from '../../ledger/reports/session-list.ts';
import { reportSession } from '../../ledger/reports/session-report.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { databaseTime } from '../../platform/database/time.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { sendCsv } from '../request/downloads.ts';
import { dayBegins, dayEnds } from '../request/filter-day.ts';
import { memberOf } from '../request/guard.ts';
import { idParam, type IdParam } from '../request/params.ts';

const CSV_PAGE = 1_000;

/** Sessions of an account: a list with filters, one session in full, and the list as a file. */
export function sessionRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const schema = { querystring: SessionQuery };
  app.get<{ Querystring: SessionQuery }>('/sessions', { schema }, async (request) => {
    const { accountId } = memberOf(request);
    const [page, keys, now] = await Promise.all([
      listPage(deps.db, { accountId, query: request.query, limit: CONSOLE_LIMITS.sessionsPerPage }),
      listApiKeys(deps.db, accountId),
      databaseTime(deps.db),
    ]);
    return {
      data: page.sessions.map(presentListed),
      next: page.next === null ? null : String(page.next),
      searched_to: page.searchedTo?.toISOString() ?? null,
      keys: keys.map(({ id, name }) => ({ id, name })),
      now: now.toISOString(),
    } satisfies SessionPage;
  });

  app.get<{ Querystring: SessionQuery }>('/sessions.csv', { schema }, async (request, reply) => {
    const { accountId } = memberOf(request);
    const rows = await deps.downloads.run(accountId, () =>
      listAll(deps.db, accountId, request.query),
    );
    return sendCsv(reply, {
      name: 'svc-asr-sessions',
      columns: CSV_COLUMNS,
      rows: rows.map(csvRow),
    });
  });

  app.get<IdParam>('/sessions/:id', { schema: { params: idParam } }, async (request) => {
    const { accountId } = memberOf(request);
    return readSessionReport(deps.db, { accountId, id: request.params.id });
  });
}

/** Everything that is known about one session of an account, without audio and text. */
export async function readSessionReport(
  db: Queryable,
  input: { accountId: string; id: string },
): Promise<SessionReport> {
  const report = await reportSession(db, input);
  if (report === null) throw new ConsoleError('not_found');
  const { session, claim, stream, transactions } = report;
  return {
    ...presentListed(session),
    claimed_at: claim.claimed_at?.toISOString() ?? null,
    node_id: claim.node_id,
    created_request_id: claim.created_request_id,
    request_id: claim.upgrade_id,
    stream: stream === null ? null : { ...stream, hints: [...stream.hints] },
    transactions: transactions.map(({ created_at, ...line }) => ({
      ...line,
      at: created_at.toISOString(),
    })),
    now: (await databaseTime(db)).toISOString(),
  };
}

/** As many as a file may have. */
async function listAll(
  db: Queryable,
  accountId: string,
  asked: SessionQuery,
): Promise<ListedSessionRow[]> {
  const rows: ListedSessionRow[] = [];
  let { before } = asked;
  while (rows.length < CONSOLE_LIMITS.csvRows) {
    const limit = Math.min(CSV_PAGE, CONSOLE_LIMITS.csvRows - rows.length);
    const query = { ...asked, ...(before === undefined ? {} : { before }) };
    const page = await listPage(db, { accountId, query, limit });
    rows.push(...page.sessions);
    if (page.next === null) break;
    before = String(page.next);
  }
  return rows;
}

async function listPage(
  db: Queryable,
  input: { accountId: string; query: SessionQuery; limit: number },
): Promise<ListedSessions> {
  const { accountId, query, limit } = input;
  if (query.id !== undefined) {
    const sessions = await findSessionsOf(db, { accountId, id: query.id });
    return { sessions, next: null, searchedTo: null };
  }
  const filter = {
    accountId,
    from: dayBegins(query.from),
    until: dayEnds(query.to),
    model: query.model ?? null,
    keyId: query.key ?? null,
    outcomes: query.status === undefined ? null : outcomesOf(query.status),
    origin: query.origin ?? null,
  };
  const before = query.before === undefined ? null : Number(query.before);
  return listSessionsOf(db, filter, { before, limit });
}

function presentListed(session: ListedSessionRow): ListedSession {
  return {
    id: session.id,
    model: session.model,
    status: session.status,
    outcome: outcomeOf(session),
    reserved_ms: session.reserved_ms,
    audio_ms: session.audio_ms,
    billable_ms: session.billable_ms,
    created_at: session.created_at.toISOString(),
    expires_at: session.expires_at.toISOString(),
    completed_at: session.completed_at?.toISOString() ?? null,
    key_id: session.key_id,
    key_name: session.key_name,
    origin: session.origin,
    client: session.client,
    close_code: session.close_code,
    close_reason: session.close_reason,
    cause: causeOf({ ...session, isOpened: session.is_opened }),
  };
}

const CSV_COLUMNS = [
  'session_id',
  'created_at',
  'ended_at',
  'status',
  'outcome',
  'model',
  'key_id',
  'key_name',
  'origin',
  'client',
  'reserved_ms',
  'audio_ms',
  'billable_ms',
  'close_code',
  'close_reason',
  'cause',
] as const;

function csvRow(row: ListedSessionRow) {
  const session = presentListed(row);
  const named = { ...session, session_id: session.id, ended_at: session.completed_at };
  return CSV_COLUMNS.map((column) => named[column]);
}
