import type { ModelId } from '@svc-asr/protocol';
import type { Queryable } from './db.ts';
import { onlyRow } from './ledger/ask-again.ts';

/** Renew this often; a lease lasts three times as long. Only the database's clock measures it. */
export const LEASE_RENEWAL_MS = 2_000;
export const LEASE_MS = 6_000;

export interface NodeRegistration {
  readonly id: string;
  /** The address clients are told, with the stream's path. */
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

/**
 * A process that streams. Registering again under the same id retires every older epoch at once.
 */
export async function registerNode(db: Queryable, node: NodeRegistration): Promise<number> {
  const { rows } = await db.query<{ epoch: number }>(
    'select register_node($1, $2, $3, $4) as epoch',
    [node.id, node.publicUrl, node.models, node.capacity],
  );
  return onlyRow(rows).epoch;
}

/** False: a newer process took this id, or it was retired. It then owns nothing any more. */
export async function renewNode(
  db: Queryable,
  node: { id: string; epoch: number } & NodeLoad,
): Promise<boolean> {
  const { rows } = await db.query<{ renewed: boolean }>({
    name: 'renew_node',
    text: 'select renew_node($1, $2, $3, $4, $5) as renewed',
    values: [node.id, node.epoch, node.active, node.capacity, node.draining],
  });
  return onlyRow(rows).renewed;
}

/** A clean stop: the sweeper need not wait for the lease to end. */
export async function retireNode(
  db: Queryable,
  node: { id: string; epoch: number },
): Promise<boolean> {
  const { rows } = await db.query<{ retired: boolean }>('select retire_node($1, $2) as retired', [
    node.id,
    node.epoch,
  ]);
  return onlyRow(rows).retired;
}

interface NodeRow {
  readonly id: string;
  readonly epoch: number;
  readonly public_url: string;
  readonly models: ModelId[];
  readonly capacity: number;
  readonly active: number;
  readonly draining: boolean;
}

/** Nodes whose lease holds now. Those that drain are listed too: they take nothing new. */
export async function listLiveNodes(db: Queryable): Promise<LiveNode[]> {
  const { rows } = await db.query<NodeRow>({
    name: 'live_nodes',
    text: `select id, epoch, public_url, models, capacity, active, draining from nodes
      where lease_until > clock_timestamp() and retired_at is null order by id`,
  });
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

/** One node as an operator reads it. */
export type NodeReport = Readonly<{
  id: string;
  epoch: number;
  state: 'live' | 'draining' | 'retired' | 'lapsed';
  active: number;
  capacity: number;
  models: readonly string[];
  public_url: string;
  started_at: Date;
  renewed_at: Date;
}>;

/** Every node there ever was, those that serve first. */
export async function listNodes(db: Queryable): Promise<NodeReport[]> {
  const { rows } = await db.query<NodeReport>(
    `select id, epoch,
        case when retired_at is not null then 'retired' when lease_until <= clock_timestamp() then 'lapsed'
          when draining then 'draining' else 'live' end as state,
        active, capacity, models, public_url, started_at, renewed_at
      from nodes order by lease_until > clock_timestamp() and retired_at is null desc, id limit 1000`,
  );
  return rows;
}
