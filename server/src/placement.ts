import type { ModelId } from '@svc-asr/protocol';
import type { Queryable } from './db.ts';
import type { PlacedNode, Placement } from './deps.ts';
import { keepFresh } from './keep-fresh.ts';
import type { Log } from './log.ts';
import { listLiveNodes, type LiveNode } from './nodes.ts';

const REFRESH_MS = 1_000;

/** Nodes by what they said last, and how many sessions were placed on each since. */
type Roster = readonly { readonly node: LiveNode; placed: number }[];

/**
 * The less loaded of two nodes picked at random. The list is a second old and every API process has its own, so the
 * least loaded of all would be chosen by all of them at once.
 */
export function chooseNode(
  roster: Roster,
  model: ModelId,
  random: () => number = Math.random,
): PlacedNode | null {
  // What was placed a moment ago may be over already: it weighs, but only the node itself can say that it is full.
  const able = roster.filter(
    ({ node }) => !node.draining && node.models.includes(model) && node.active < node.capacity,
  );
  const first = able[Math.floor(random() * able.length)];
  const second = able[Math.floor(random() * able.length)];
  if (first === undefined || second === undefined) return null;
  const chosen = loadOf(second) < loadOf(first) ? second : first;
  chosen.placed += 1;
  return { id: chosen.node.id, url: chosen.node.publicUrl };
}

function loadOf({ node, placed }: Roster[number]): number {
  return (node.active + placed) / node.capacity;
}

/** Answers from a list that is renewed every second, so that a reservation waits for nothing but its own round trip. */
export class NodeRoster implements Placement {
  readonly #log: Log;
  #roster: Roster = [];

  constructor(log: Log) {
    this.#log = log;
  }

  choose(model: ModelId): PlacedNode | null {
    return chooseNode(this.#roster, model);
  }

  /** Resolves with the list there; what it gives ends the watching. */
  watch(db: Queryable): Promise<() => Promise<void>> {
    return keepFresh({
      everyMs: REFRESH_MS,
      log: this.#log,
      failure: 'The list of nodes could not be renewed.',
      refresh: async () => {
        this.#roster = (await listLiveNodes(db)).map((node) => ({ node, placed: 0 }));
      },
    });
  }
}
