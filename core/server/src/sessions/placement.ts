import type { ModelId } from '@svc-asr/protocol';
import { lessLoadedOfTwo } from '@svc-asr/runtime/less-loaded.ts';
import type { Queryable } from '../platform/database/db.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { Log } from '../platform/observe/log.ts';
import { listLiveNodes, type LiveNode } from '../nodes/nodes.ts';

/** The node that a session will stream to. */
export interface PlacedNode {
  readonly id: string;
  readonly url: string;
}

export interface Placement {
  /** Chooses from memory, so that a reservation takes one database round trip. Null when no node has capacity. */
  choose(model: ModelId, lost?: LostNode | null): PlacedNode | null;
}

/** A caller's report that a node doesn't answer. */
export interface LostNode {
  /** Name and port of the node's URL. */
  readonly host: string;
  readonly accountId: string;
}

const REFRESH_MS = 1_000;
/** In the last tenth of its slots, a node refuses accounts that have several streams there. */
const ROOMY_SHARE = 0.9;
/** One account alone can't take a node from the others. */
const REPORTERS_MIN = 2;
/** A node renews its lease every two seconds, so one that hasn't by the third refresh may be dead. */
const OVERDUE_REFRESHES = 3;

/** The last reported load of each node, and the sessions placed on it since. */
export type Roster = readonly { readonly node: LiveNode; placed: number }[];

/** Picks a node that has the model and a free slot. Prefers those that seem to answer and have room. */
export function chooseNode(
  roster: Roster,
  model: ModelId,
  options: {
    readonly random?: () => number;
    readonly isLost?: (id: string) => boolean;
  } = {},
): PlacedNode | null {
  const { random = Math.random, isLost = () => false } = options;
  // Recently placed sessions may be over already. They count as load, but only the node's own report makes it full.
  const able = roster.filter(
    ({ node }) => !node.draining && node.models.includes(model) && node.active < node.capacity,
  );
  const answering = able.filter(({ node }) => !isLost(node.id));
  const roomy = answering.filter((entry) => loadOf(entry) < ROOMY_SHARE);
  const best = [roomy, answering, able].find((nodes) => nodes.length > 0) ?? [];
  const chosen = lessLoadedOfTwo(best, loadOf, random);
  if (chosen === null) return null;
  chosen.placed += 1;
  return { id: chosen.node.id, url: chosen.node.publicUrl };
}

function loadOf({ node, placed }: Roster[number]): number {
  return (node.active + placed) / node.capacity;
}

/** Sessions placed on a node count until it reports its load again, when it renews its lease. */
export function refreshRoster(roster: Roster, nodes: readonly LiveNode[]): Roster {
  const before = new Map(roster.map((entry) => [entry.node.id, entry]));
  return nodes.map((node) => {
    const last = before.get(node.id);
    const hasReported = last?.node.renewedAtMs !== node.renewedAtMs;
    return { node, placed: hasReported ? 0 : last.placed };
  });
}

/** Chooses from a list that is refreshed every second, so that a reservation needs no extra round trip. */
export class NodeRoster implements Placement {
  readonly #log: Log;
  readonly #lost = new LostNodes();
  #roster: Roster = [];

  constructor(log: Log) {
    this.#log = log;
  }

  choose(model: ModelId, lost: LostNode | null = null): PlacedNode | null {
    if (lost !== null) this.#lost.report(lost);
    return chooseNode(this.#roster, model, { isLost: (id) => this.#lost.has(id, lost) });
  }

  /** Refreshes the list every second. Resolves after the first refresh with a stop function. */
  async watch(db: Queryable): Promise<() => Promise<void>> {
    const task = startPeriodic({
      everyMs: REFRESH_MS,
      log: this.#log,
      failure: 'The list of nodes could not be refreshed.',
      run: async () => {
        const nodes = await listLiveNodes(db);
        this.#lost.refresh(nodes);
        this.#roster = refreshRoster(this.#roster, nodes);
      },
    });
    await task.firstRun;
    return () => task.stop();
  }
}

interface KnownNode {
  readonly host: string;
  readonly renewedAtMs: number;
  /** How many refreshes in a row found no renewal. */
  readonly quietFor: number;
}

/** Live nodes that callers could not reach, or whose renewal is overdue. A node that renews its lease is alive. */
export class LostNodes {
  #known = new Map<string, KnownNode>();
  /** The accounts that reported each node since its last renewal. */
  readonly #reporters = new Map<string, Set<string>>();

  refresh(nodes: readonly LiveNode[]): void {
    const before = this.#known;
    this.#known = new Map(
      nodes.map(({ id, publicUrl, renewedAtMs }) => {
        const last = before.get(id);
        const quietFor = last?.renewedAtMs === renewedAtMs ? last.quietFor + 1 : 0;
        return [id, { host: new URL(publicUrl).host, renewedAtMs, quietFor }];
      }),
    );
    for (const id of this.#reporters.keys()) {
      if ((this.#known.get(id)?.quietFor ?? 0) === 0) this.#reporters.delete(id);
    }
  }

  report({ host, accountId }: LostNode): void {
    for (const [id, known] of this.#known) {
      if (known.host !== host) continue;
      this.#reporters.set(id, (this.#reporters.get(id) ?? new Set()).add(accountId));
    }
  }

  /** A caller's own report counts for itself. For others it needs several accounts, or an overdue renewal. */
  has(id: string, own: LostNode | null): boolean {
    const known = this.#known.get(id);
    if (own !== null && known?.host === own.host) return true;
    if ((known?.quietFor ?? 0) >= OVERDUE_REFRESHES) return true;
    return (this.#reporters.get(id)?.size ?? 0) >= REPORTERS_MIN;
  }
}
