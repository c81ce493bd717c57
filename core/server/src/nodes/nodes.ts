import type { ModelId } from '@svc-asr/protocol';
import type { Queryable } from '../platform/database/db.ts';
import { queryRow, queryRows, statement, t, type RowOf } from '../platform/database/statement.ts';

/** How often a lease is renewed. It lasts three times as long, by the database's clock. */
export const LEASE_RENEWAL_MS = 2_000;
export const LEASE_MS = 6_000;

export interface NodeRegistration {
  readonly id: string;
  /** The public URL for clients, with the stream's path. */
  readonly publicUrl: string;
  readonly models: readonly ModelId[];
  /** How many streams it can serve at once. */
  readonly capacity: number;
  /** Of the service. */
  readonly version?: string;
}

export interface NodeLoad {
  readonly active: number;
  readonly capacity: number;
  readonly draining: boolean;
}

export interface LiveNode extends NodeRegistration, NodeLoad {
  readonly epoch: number;
  /** Changes whenever the lease is renewed. */
  readonly renewedAtMs: number;
}

const REGISTER = statement('select register_node($1, $2, $3, $4, $5) as epoch', {
  epoch: t.number(),
});

/**
 * Registers a streaming process. Registering the same id again retires every older epoch at once.
 */
export async function registerNode(db: Queryable, node: NodeRegistration): Promise<number> {
  const { id, publicUrl, models, capacity, version } = node;
  const values = [id, publicUrl, models, capacity, version ?? null];
  return (await queryRow(db, REGISTER, values)).epoch;
}

const RENEW = statement(
  'select renew_node($1, $2, $3, $4, $5) as renewed',
  { renewed: t.boolean() },
  { name: 'renew_node' },
);

/** Returns false if a newer process took this id or the node was retired. It then owns no sessions. */
export async function renewNode(
  db: Queryable,
  node: { id: string; epoch: number } & NodeLoad,
): Promise<boolean> {
  const { renewed } = await queryRow(db, RENEW, [
    node.id,
    node.epoch,
    node.active,
    node.capacity,
    node.draining,
  ]);
  return renewed;
}

const FIND = statement(
  `select epoch, retired_at is not null as retired,
      lease_until > clock_timestamp() and retired_at is null as is_held,
      floor(extract(epoch from clock_timestamp() - started_at) * 1000)::bigint as age_ms
    from nodes where id = $1`,
  { epoch: t.number(), retired: t.boolean(), is_held: t.boolean(), age_ms: t.number() },
);

/** Returns null if the database has no such node. */
export async function findNode(db: Queryable, id: string): Promise<RowOf<typeof FIND> | null> {
  const [row] = await queryRows(db, FIND, [id]);
  return row ?? null;
}

const RETIRE = statement('select retire_node($1, $2) as retired', { retired: t.boolean() });

/** Retires a node on a clean stop, so that the sweeper need not wait for its lease to expire. */
export async function retireNode(
  db: Queryable,
  node: { id: string; epoch: number },
): Promise<boolean> {
  const { retired } = await queryRow(db, RETIRE, [node.id, node.epoch]);
  return retired;
}

const LIVE_NODES = statement(
  `select id, epoch, public_url, models, capacity, active, draining, renewed_at from nodes
    where lease_until > clock_timestamp() and retired_at is null order by id`,
  {
    id: t.text(),
    epoch: t.number(),
    public_url: t.text(),
    models: t.texts<ModelId>(),
    capacity: t.number(),
    active: t.number(),
    draining: t.boolean(),
    renewed_at: t.timestamp(),
  },
  { name: 'live_nodes' },
);

/** Nodes with a valid lease, including draining ones, which take no new sessions. */
export async function listLiveNodes(db: Queryable): Promise<LiveNode[]> {
  const rows = await queryRows(db, LIVE_NODES);
  return rows.map((row) => ({
    id: row.id,
    epoch: row.epoch,
    publicUrl: row.public_url,
    models: row.models,
    capacity: row.capacity,
    active: row.active,
    draining: row.draining,
    renewedAtMs: row.renewed_at.getTime(),
  }));
}

const ALL_NODES = statement(
  `select id, epoch,
      case when retired_at is not null then 'retired' when lease_until <= clock_timestamp() then 'expired'
        when draining then 'draining' else 'live' end as state,
      active, capacity, models, public_url, version, started_at, renewed_at, lease_until
    from nodes order by lease_until > clock_timestamp() and retired_at is null desc, id limit 1000`,
  {
    id: t.text(),
    epoch: t.number(),
    state: t.text<'live' | 'draining' | 'retired' | 'expired'>(),
    active: t.number(),
    capacity: t.number(),
    models: t.texts(),
    public_url: t.text(),
    version: t.nullable(t.text()),
    started_at: t.timestamp(),
    renewed_at: t.timestamp(),
    lease_until: t.timestamp(),
  },
);

/** One row of `svc-admin nodes`. */
export type NodeReport = RowOf<typeof ALL_NODES>;

/** Lists all nodes, live ones first. */
export async function listNodes(db: Queryable): Promise<NodeReport[]> {
  return queryRows(db, ALL_NODES);
}

const LAG = statement(
  `select s.node_id as id, count(*) as streams, percentile_disc(0.95) within group (order by d.delta_lag_p95_ms) as lag_ms
    from (
      select * from session_details where recorded_at > clock_timestamp() - interval '15 minutes'
        and delta_lag_p95_ms is not null order by recorded_at desc limit 10000
    ) d join sessions s on s.account_id = d.account_id and s.id = d.session_id
    group by s.node_id`,
  { id: t.text(), streams: t.number(), lag_ms: t.nullable(t.number()) },
);

/** The delay of text at the 95th percentile in streams that ended within 15 minutes, by node. */
export async function listNodeLag(db: Queryable): Promise<Map<string, number>> {
  const rows = await queryRows(db, LAG);
  return new Map(rows.flatMap(({ id, lag_ms }) => (lag_ms === null ? [] : [[id, lag_ms]])));
}
