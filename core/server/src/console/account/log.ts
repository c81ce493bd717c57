import { API_ERRORS, type ApiErrorCode } from '@svc-asr/protocol';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/console.ts';
import { LogQuery, type LoggedCall, type LogPage } from '@svc-asr/protocol/console/log.ts';
import type { FastifyInstance } from 'fastify';
import {
  findCalls,
  listCalls,
  type ApiCallRow,
  type CallPosition,
} from '../../accounts/logs/call-log.ts';
import type { Queryable } from '../../platform/database/db.ts';
import type { ConsoleDeps } from '../deps.ts';
import { memberOf } from '../request/guard.ts';
import { sendCsv } from '../request/downloads.ts';

/** Before every position of a call. */
const NEWEST: CallPosition = {
  at: new Date('9999-01-01T00:00:00Z'),
  requestId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};

/** The calls of an account in the last seven days: a list with a filter, and the same as a file. */
export function logRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const schema = { querystring: LogQuery };
  app.get<{ Querystring: LogQuery }>('/log', { schema }, async (request) => {
    const { accountId } = memberOf(request);
    const limit = CONSOLE_LIMITS.callsPerPage;
    const query = { accountId, query: request.query, limit: limit + 1 };
    const found = await listPage(deps.db, query);
    const shown = found.slice(0, limit);
    const last = shown.at(-1);
    return {
      data: shown.map(presentCall),
      next: found.length > limit && last !== undefined ? positionOf(last) : null,
    } satisfies LogPage;
  });

  app.get<{ Querystring: LogQuery }>('/log.csv', { schema }, async (request, reply) => {
    const { accountId } = memberOf(request);
    const query = { accountId, query: request.query, limit: CONSOLE_LIMITS.csvRows };
    const found = await deps.downloads.run(accountId, () => listPage(deps.db, query));
    const rows = found.map(presentCall);
    return sendCsv(reply, {
      name: 'svc-asr-log',
      columns: CSV_COLUMNS,
      rows: rows.map((call) => CSV_COLUMNS.map((column) => call[column])),
    });
  });
}

const CSV_COLUMNS = [
  'at',
  'request_id',
  'method',
  'route',
  'status',
  'code',
  'message',
  'key_id',
  'session_id',
  'took_ms',
  'more',
] as const satisfies readonly (keyof LoggedCall)[];

async function listPage(
  db: Queryable,
  input: { accountId: string; query: LogQuery; limit: number },
): Promise<ApiCallRow[]> {
  const { accountId, query, limit } = input;
  if (query.id !== undefined) return findCalls(db, { accountId, id: query.id, limit });
  const before = query.before === undefined ? NEWEST : parsePosition(query.before);
  return listCalls(db, { accountId, refusedOnly: query.show === 'refused' }, { before, limit });
}

function positionOf({ at, request_id }: ApiCallRow): string {
  return `${at.getTime()}.${request_id}`;
}

function parsePosition(text: string): CallPosition {
  const [ms = '', requestId = ''] = text.split('.');
  return { at: new Date(Number(ms)), requestId };
}

function presentCall({ at, code, detail, ...call }: ApiCallRow): LoggedCall {
  return { ...call, at: at.toISOString(), code, message: detail ?? messageOf(code) };
}

/** Codes of newer versions have no message here. */
function messageOf(code: string | null): string | null {
  return code !== null && isKnown(code) ? API_ERRORS[code].message : null;
}

function isKnown(code: string): code is ApiErrorCode {
  return Object.hasOwn(API_ERRORS, code);
}
