import type { ModelId } from '@svc-asr/protocol';
import type { Queryable } from '../platform/db.ts';
import {
  boolean,
  number,
  queryRows,
  statement,
  text,
  texts,
  timestamp,
  type RowOf,
} from '../platform/statement.ts';
import { onlyRow } from '../ledger/retry-once.ts';

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
}

export interface NodeLoad {
  readonly active: number;
  readonly capacity: number;
  readonly draining: boolean;
}

export interface LiveNode extends NodeRegistration, NodeLoad {
  readonly epoch: number;
}

const REGISTER = statement('select register_node($1, $2, $3, $4) as epoch', { epoch: number() });

/**
 * Registers a streaming process. Registering the same id again retires every older epoch at once.
 */
export async function registerNode(db: Queryable, node: NodeRegistration): Promise<number> {
  const rows = await queryRows(db, REGISTER, [node.id, node.publicUrl, node.models, node.capacity]);
  return onlyRow(rows).epoch;
}

const RENEW = statement(
  'select renew_node($1, $2, $3, $4, $5) as renewed',
  { renewed: boolean() },
  { name: 'renew_node' },
);

/** Returns false if a newer process took this id or the node was retired. It then owns no sessions. */
export async function renewNode(
  db: Queryable,
  node: { id: string; epoch: number } & NodeLoad,
): Promise<boolean> {
  const rows = await queryRows(db, RENEW, [
    node.id,
    node.epoch,
    node.active,
    node.capacity,
    node.draining,
  ]);
  return onlyRow(rows).renewed;
}

const FIND = statement('select epoch, retired_at is not null as retired from nodes where id = $1', {
  epoch: number(),
  retired: boolean(),
});

/** Returns null if the database has no such node. */
export async function findNode(db: Queryable, id: string): Promise<RowOf<typeof FIND> | null> {
  const [row] = await queryRows(db, FIND, [id]);
  return row ?? null;
}

const RETIRE = statement('select retire_node($1, $2) as retired', { retired: boolean() });

/** Retires a node on a clean stop, so that the sweeper need not wait for its lease to expire. */
export async function retireNode(
  db: Queryable,
  node: { id: string; epoch: number },
): Promise<boolean> {
  const rows = await queryRows(db, RETIRE, [node.id, node.epoch]);
  return onlyRow(rows).retired;
}

const LIVE_NODES = statement(
  `select id, epoch, public_url, models, capacity, active, draining from nodes
    where lease_until > clock_timestamp() and retired_at is null order by id`,
  {
    id: text(),
    epoch: number(),
    public_url: text(),
    models: texts<ModelId>(),
    capacity: number(),
    active: number(),
    draining: boolean(),
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
  }));
}

const ALL_NODES = statement(
  `select id, epoch,
      case when retired_at is not null then 'retired' when lease_until <= clock_timestamp() then 'lapsed'
        when draining then 'draining' else 'live' end as state,
      active, capacity, models, public_url, started_at, renewed_at
    from nodes order by lease_until > clock_timestamp() and retired_at is null desc, id limit 1000`,
  {
    id: text(),
    epoch: number(),
    state: text<'live' | 'draining' | 'retired' | 'lapsed'>(),
    active: number(),
    capacity: number(),
    models: texts(),
    public_url: text(),
    started_at: timestamp(),
    renewed_at: timestamp(),
  },
);

/** One row of `svc-admin nodes`. */
export type NodeReport = RowOf<typeof ALL_NODES>;

/** Lists all nodes, live ones first. */
export async function listNodes(db: Queryable): Promise<NodeReport[]> {
  return queryRows(db, ALL_NODES);
}
