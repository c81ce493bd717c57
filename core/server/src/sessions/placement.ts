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

/** The last reported load of each node, and the sessions placed on it since. */
type Roster = readonly { readonly node: LiveNode; placed: number }[];

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
        this.#roster = nodes.map((node) => ({ node, placed: 0 }));
      },
    });
    await task.firstRun;
    return () => task.stop();
  }
}

/** Live nodes that callers could not reach. A node that renews its lease after the reports is alive. */
export class LostNodes {
  #known = new Map<string, { readonly host: string; readonly node: LiveNode }>();
  /** The accounts that reported each node since its last renewal. */
  readonly #reporters = new Map<string, Set<string>>();

  refresh(nodes: readonly LiveNode[]): void {
    const before = this.#known;
    this.#known = new Map(
      nodes.map((node) => [node.id, { host: new URL(node.publicUrl).host, node }]),
    );
    for (const id of this.#reporters.keys()) {
      const renewedAtMs = this.#known.get(id)?.node.renewedAtMs;
      if (renewedAtMs !== before.get(id)?.node.renewedAtMs) this.#reporters.delete(id);
    }
  }

  report({ host, accountId }: LostNode): void {
    for (const [id, known] of this.#known) {
      if (known.host !== host) continue;
      this.#reporters.set(id, (this.#reporters.get(id) ?? new Set()).add(accountId));
    }
  }

  /** A caller's own report counts for itself. For others it needs several accounts. */
  has(id: string, own: LostNode | null): boolean {
    if (own !== null && this.#known.get(id)?.host === own.host) return true;
    return (this.#reporters.get(id)?.size ?? 0) >= REPORTERS_MIN;
  }
}
