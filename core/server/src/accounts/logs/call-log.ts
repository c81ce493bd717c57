import { Counter, type Registry } from 'prom-client';
import { startBatchWriter } from '../../platform/database/batch-writer.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/database/db.ts';
import type { Log } from '../../platform/observe/log.ts';
import { queryRows, statement, t, type RowOf } from '../../platform/database/statement.ts';

/** An answered call of an account. Metadata only: no field holds anything that the caller wrote. */
export interface ApiCall {
  readonly accountId: string;
  readonly requestId: string;
  readonly method: string;
  /** The route's pattern, not the path that was asked for. */
  readonly route: string;
  readonly status: number;
  readonly code: string | null;
  /** A fixed message of the protocol, if it is more specific than that of the code. */
  readonly detail: string | null;
  readonly keyId: string | null;
  readonly sessionId: string | null;
  readonly tookMs: number;
}

export interface CallLog {
  /** Keeps a call until it is written. Never waits, and never fails. */
  add(call: ApiCall): void;
  stop(): Promise<void>;
}

interface WaitingCall extends ApiCall {
  readonly atMs: number;
  more: number;
}

/** Calls of one account in one batch. Further calls are added to a stored one that is alike. */
const ACCOUNT_CALLS_MAX = 50;

const RECORD = statement('select record_calls($1) as recorded', { recorded: t.number() });

/** Stores the calls of customers for their Log page (docs/design/console.md). */
export function startCallLog(input: {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly log: Log;
}): CallLog {
  const { clock } = input;
  const counts = new Map<string, number>();
  const alike = new Map<string, WaitingCall>();
  const writer = startBatchWriter<WaitingCall>({
    async write(calls) {
      // Later calls can't be added to these any more.
      counts.clear();
      alike.clear();
      const nowMs = clock.monotonicMs();
      const rows = calls.map((call) => rowOf(call, nowMs));
      await queryRows(input.db, RECORD, [JSON.stringify(rows)]);
    },
    dropped: new Counter({
      name: 'svc_call_log_dropped_total',
      help: 'Calls that are missing from the Log page of their account, because the database did not accept them or too many waited.',
      registers: [input.registry],
    }),
    log: input.log,
    failure: 'Calls could not be added to the log of their accounts.',
  });
  return {
    add(call) {
      const count = (counts.get(call.accountId) ?? 0) + 1;
      counts.set(call.accountId, count);
      const kind = `${call.accountId} ${call.keyId} ${call.method} ${call.route} ${call.status} ${call.code}`;
      const earlier = count > ACCOUNT_CALLS_MAX ? alike.get(kind) : undefined;
      if (earlier !== undefined) {
        earlier.more += 1;
        return;
      }
      const waiting = { ...call, atMs: clock.monotonicMs(), more: 0 };
      alike.set(kind, waiting);
      writer.add(waiting);
    },
    stop: () => writer.stop(),
  };
}

/** Parsing takes half of the database's time for a row, so that absent values are left out. */
function rowOf(call: WaitingCall, nowMs: number): Readonly<Record<string, unknown>> {
  return {
    account_id: call.accountId,
    ago_ms: Math.round(nowMs - call.atMs),
    request_id: call.requestId,
    method: call.method,
    route: call.route,
    status: call.status,
    code: call.code ?? undefined,
    detail: call.detail ?? undefined,
    key_id: call.keyId ?? undefined,
    session_id: call.sessionId ?? undefined,
    took_ms: Math.round(call.tookMs),
    more: call.more === 0 ? undefined : call.more,
  };
}

const FIELDS = `c.at, c.request_id, c.method, c.route, c.status, c.code, c.detail, coalesce(c.key_id, s.key_id) as key_id,
  c.session_id, c.took_ms, c.more`;
export const CALL_COLUMNS = {
  at: t.timestamp(),
  request_id: t.text(),
  method: t.text(),
  route: t.text(),
  status: t.number(),
  code: t.nullable(t.text()),
  key_id: t.nullable(t.text()),
  session_id: t.nullable(t.text()),
  took_ms: t.number(),
  more: t.number(),
};
const COLUMNS = { ...CALL_COLUMNS, detail: t.nullable(t.text()) };
/** Refused upgrades carry a session instead of a key. */
const JOINS = 'left join sessions s on s.account_id = c.account_id and s.id = c.session_id';
const KEPT = `c.at > clock_timestamp() - interval '7 days'`;
const list = (refusals: string) =>
  statement(
    `select ${FIELDS} from api_calls c ${JOINS}
      where c.account_id = $1 and ${KEPT} and (c.at, c.request_id) < ($2, $3::uuid) ${refusals}
      order by c.at desc, c.request_id desc limit $4`,
    COLUMNS,
  );
const LIST = list('');
/** Uses the index of refused calls, so that they are found among any number of others. */
const LIST_REFUSED = list('and c.status >= 400');
/** Each part uses an index. The call that created a session was written when the session was. */
const FIND = statement(
  `select ${FIELDS} from (
      select * from api_calls where account_id = $1 and request_id = $2
      union select * from api_calls where account_id = $1 and session_id = $2 and status >= 400
      union select made.* from sessions, api_calls made
        where sessions.account_id = $1 and sessions.id = $2 and made.account_id = $1 and made.session_id = $2
          and made.at between created_at - interval '10 s' and created_at + interval '60 s'
    ) c ${JOINS}
    where ${KEPT} order by c.at desc, c.request_id desc limit $3`,
  COLUMNS,
);

export type ApiCallRow = RowOf<typeof LIST>;

/** A position in the list: calls before it are next. */
export interface CallPosition {
  readonly at: Date;
  readonly requestId: string;
}

/** Newest first, from the position on. */
export async function listCalls(
  db: Queryable,
  filter: { readonly accountId: string; readonly refusedOnly: boolean },
  page: { readonly before: CallPosition; readonly limit: number },
): Promise<ApiCallRow[]> {
  const { before, limit } = page;
  const values = [filter.accountId, before.at, before.requestId, limit];
  return queryRows(db, filter.refusedOnly ? LIST_REFUSED : LIST, values);
}

/** The calls with this request id or session id. */
export async function findCalls(
  db: Queryable,
  input: { readonly accountId: string; readonly id: string; readonly limit: number },
): Promise<ApiCallRow[]> {
  return queryRows(db, FIND, [input.accountId, input.id, input.limit]);
}
