import type { ModelId } from '@svc-asr/protocol';
import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t, type RowOf } from '../../platform/database/statement.ts';
import { shownSession } from './shown-session.ts';

const SHOWN = shownSession('clock_timestamp()');
const LIVE = statement(
  `select ${SHOWN.fields}, s.account_id, a.name as account_name, s.node_id, s.claimed_at
    from sessions s join accounts a on a.id = s.account_id ${SHOWN.joins}
    where s.slot is not null and seen.status <> 'expired'
      and ($2::text is null or s.node_id = $2) and ($3::uuid is null or s.account_id = $3)
    order by s.created_at, s.id limit $1`,
  {
    id: t.text(),
    model: t.text<ModelId>(),
    status: t.text<'reserved' | 'active'>(),
    reserved_ms: t.number(),
    audio_ms: t.number(),
    billable_ms: t.number(),
    created_at: t.timestamp(),
    expires_at: t.timestamp(),
    completed_at: t.nullable(t.timestamp()),
    claimed_at: t.nullable(t.timestamp()),
    account_id: t.text(),
    account_name: t.text(),
    node_id: t.text(),
  },
);
const BY_NODE = statement(
  `select node_id as id, node_id as name, count(*) as streams from sessions where slot is not null
    group by 1 order by 3 desc, 1 limit $1`,
  { id: t.text(), name: t.text(), streams: t.number() },
);
const BY_ACCOUNT = statement(
  `select s.account_id as id, a.name, count(*) as streams from sessions s join accounts a on a.id = s.account_id
    where s.slot is not null group by 1, 2 order by 3 desc, 2 limit $1`,
  { id: t.text(), name: t.text(), streams: t.number() },
);

const TOTAL = statement('select count(*) as total from sessions where slot is not null', {
  total: t.number(),
});

export interface LiveStreams {
  /** Oldest first. */
  readonly streams: readonly RowOf<typeof LIVE>[];
  /** Numbers of sessions that are reserved or active, the largest first. */
  readonly byNode: readonly RowOf<typeof BY_NODE>[];
  readonly byAccount: readonly RowOf<typeof BY_ACCOUNT>[];
  /** Of all nodes and accounts, listed or not. */
  readonly total: number;
}

/** Sessions that are reserved or active: the longest of them, and how many each node and account has. */
export async function listLiveStreams(
  db: Queryable,
  input: { limit: number; nodeId: string | null; accountId: string | null },
): Promise<LiveStreams> {
  const { limit, nodeId, accountId } = input;
  const [streams, byNode, byAccount, [all]] = await Promise.all([
    queryRows(db, LIVE, [limit, nodeId, accountId]),
    queryRows(db, BY_NODE, [limit]),
    queryRows(db, BY_ACCOUNT, [limit]),
    queryRows(db, TOTAL, []),
  ]);
  return { streams, byNode, byAccount, total: all?.total ?? 0 };
}
