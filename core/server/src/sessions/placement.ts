import type { ModelId } from '@svc-asr/protocol';
import { lessLoadedOfTwo } from '@svc-asr/runtime/less-loaded.ts';
import type { Queryable } from '../platform/database/db.ts';
import type { PlacedNode, Placement } from '../deps.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { Log } from '../platform/observe/log.ts';
import { listLiveNodes, type LiveNode } from '../nodes/nodes.ts';

const REFRESH_MS = 1_000;

/** The last reported load of each node, and the sessions placed on it since. */
type Roster = readonly { readonly node: LiveNode; placed: number }[];

/** Picks a node that has the model and a free slot. */
export function chooseNode(
  roster: Roster,
  model: ModelId,
  random: () => number = Math.random,
): PlacedNode | null {
  // Recently placed sessions may be over already. They count as load, but only the node's own report makes it full.
  const able = roster.filter(
    ({ node }) => !node.draining && node.models.includes(model) && node.active < node.capacity,
  );
  const chosen = lessLoadedOfTwo(able, loadOf, random);
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
  #roster: Roster = [];

  constructor(log: Log) {
    this.#log = log;
  }

  choose(model: ModelId): PlacedNode | null {
    return chooseNode(this.#roster, model);
  }

  /** Refreshes the list every second. Resolves after the first refresh with a stop function. */
  async watch(db: Queryable): Promise<() => Promise<void>> {
    const task = startPeriodic({
      everyMs: REFRESH_MS,
      log: this.#log,
      failure: 'The list of nodes could not be refreshed.',
      run: async () => {
        this.#roster = (await listLiveNodes(db)).map((node) => ({ node, placed: 0 }));
      },
    });
    await task.firstRun;
    return () => task.stop();
  }
}
