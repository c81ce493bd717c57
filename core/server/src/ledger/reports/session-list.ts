import type { ModelId } from '@svc-asr/protocol';
import type { Outcome } from '@svc-asr/protocol/console/outcome.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t, type Row } from '../../platform/database/statement.ts';
import { shownSession } from './shown-session.ts';
import type { SessionStatus } from '../types.ts';

export interface SessionFilter {
  readonly accountId: string;
  readonly from: Date | null;
  /** Exclusive. */
  readonly until: Date | null;
  readonly model: string | null;
  /** `none`: sessions without a key. */
  readonly keyId: string | null;
  readonly outcomes: readonly Outcome[] | null;
  /** `none`: clients other than browsers. */
  readonly origin: string | null;
}

const SHOWN = shownSession('clock_timestamp()');
const FIELDS = `${SHOWN.fields}, s.key_id, k.name as key_name, d.origin, d.client, d.close_code, d.close_reason,
  s.claimed_at is not null as is_opened`;
/** As `outcomeOf` has it. */
const OUTCOME = `case when seen.status = 'completed' and d.close_code <> 1000 then 'error' else seen.status end`;
const JOINS = `join sessions s on s.account_id = t.account_id and s.id = t.session_id
  left join api_keys k on k.id = s.key_id and k.account_id = s.account_id
  left join session_details d on d.account_id = s.account_id and d.session_id = s.id
  ${SHOWN.joins}`;
const COLUMNS = {
  id: t.text(),
  model: t.text<ModelId>(),
  reserved_ms: t.number(),
  key_id: t.nullable(t.text()),
  key_name: t.nullable(t.text()),
  created_at: t.timestamp(),
  expires_at: t.timestamp(),
  audio_ms: t.number(),
  billable_ms: t.number(),
  status: t.text<SessionStatus>(),
  completed_at: t.nullable(t.timestamp()),
  origin: t.nullable(t.text()),
  client: t.nullable(t.text()),
  close_code: t.nullable(t.number()),
  close_reason: t.nullable(t.text()),
  is_opened: t.boolean(),
};
export type ListedSessionRow = Row<typeof COLUMNS>;

/** Scans reservations from new to old, at most $4 of them, and returns those that match. */
const SCAN = statement(
  `with scanned as materialized (
    select account_id, session_id, seq from txn
      where account_id = $1 and kind = 'reserve' and seq < $2 and seq >= $3 order by seq desc limit $4
  )
  select t.seq, ${FIELDS} from scanned t ${JOINS}
    where ($5::text is null or s.model = $5)
      and ($6::text is null or coalesce(s.key_id, 'none') = $6)
      and ($7::text[] is null or ${OUTCOME} = any ($7))
      and ($8::text is null or coalesce(d.origin, 'none') = $8 and ($8 <> 'none' or s.claimed_at is not null))
    order by t.seq desc limit $9`,
  { seq: t.number(), ...COLUMNS },
);
/** Where that scan ended. */
const SCANNED = statement(
  `select min(seq) as seq, count(*) as counted, min(created_at) as created_at from (
    select seq, created_at from txn
      where account_id = $1 and kind = 'reserve' and seq < $2 and seq >= $3 order by seq desc limit $4
  ) scanned`,
  { seq: t.nullable(t.number()), counted: t.number(), created_at: t.nullable(t.timestamp()) },
);
const BOUNDS = statement(
  `select last_seq + 1 as high,
    case when $2::timestamptz is null then 1 else first_reservation_at(id, $2) end as from_seq,
    case when $3::timestamptz is null then last_seq + 1 else first_reservation_at(id, $3) end as until_seq
    from accounts where id = $1`,
  { high: t.number(), from_seq: t.number(), until_seq: t.number() },
);
const BY_ID = statement(
  `select ${FIELDS} from txn t ${JOINS}
    where t.account_id = $1 and t.kind = 'reserve' and t.session_id = any (array[$2::uuid] || array(
      select session_id from session_details where account_id = $1 and request_id = $2
      union all select session_id from api_calls where account_id = $1 and request_id = $2
      union all select id from sessions where account_id = $1 and slot is not null and upgrade_id = $2))`,
  COLUMNS,
);

const CLOSE_CODES = statement(
  'select session_id, close_code from session_details where account_id = $1 and session_id = any ($2)',
  { session_id: t.text(), close_code: t.number() },
);

/** Reservations that one call looks at, and that one page looks at. A rare filter continues with the next page. */
const SCAN_ROWS = 1_000;
const SCANS_MAX = 10;

export interface ListedSessions {
  readonly sessions: readonly ListedSessionRow[];
  /** Continue before this transaction. Null: there are no more. */
  readonly next: number | null;
  /** Set if the search stopped before it found a whole page. */
  readonly searchedTo: Date | null;
}

/** Newest first. The number of rows read is bounded, whatever the filter. */
export async function listSessionsOf(
  db: Queryable,
  filter: SessionFilter,
  page: { readonly before: number | null; readonly limit: number },
): Promise<ListedSessions> {
  const { accountId, from, until } = filter;
  const [bounds] = await queryRows(db, BOUNDS, [accountId, from, until]);
  if (bounds === undefined) return { sessions: [], next: null, searchedTo: null };
  const low = bounds.from_seq;
  let high = Math.min(bounds.until_seq, page.before ?? bounds.high);
  const filters = [filter.model, filter.keyId, filter.outcomes, filter.origin];
  const isFiltered = filters.some((value) => value !== null);
  const scanRows = isFiltered ? SCAN_ROWS : page.limit + 1;
  const found: (ListedSessionRow & { readonly seq: number })[] = [];
  for (let scan = 1; ; scan += 1) {
    const wanted = page.limit + 1 - found.length;
    const range = [accountId, high, low, scanRows];
    found.push(...(await queryRows(db, SCAN, [...range, ...filters, wanted])));
    if (found.length > page.limit) {
      const sessions = found.slice(0, page.limit);
      return { sessions, next: sessions.at(-1)?.seq ?? null, searchedTo: null };
    }
    const [end] = await queryRows(db, SCANNED, range);
    if (end === undefined || end.seq === null || end.counted < scanRows) {
      return { sessions: found, next: null, searchedTo: null };
    }
    high = end.seq;
    if (scan === SCANS_MAX) return { sessions: found, next: high, searchedTo: end.created_at };
  }
}

/** The session with this id, or with a stream or a creating call that has this request id. */
export async function findSessionsOf(
  db: Queryable,
  input: { readonly accountId: string; readonly id: string },
): Promise<ListedSessionRow[]> {
  return queryRows(db, BY_ID, [input.accountId, input.id]);
}

/** How the streams of these sessions were closed, by session. Those without details are missing. */
export async function closeCodesOf(
  db: Queryable,
  input: { readonly accountId: string; readonly ids: readonly string[] },
): Promise<Map<string, number>> {
  const rows = await queryRows(db, CLOSE_CODES, [input.accountId, input.ids]);
  return new Map(rows.map(({ session_id, close_code }) => [session_id, close_code]));
}
