import type { RatePolicy } from '@svc-asr/server/platform/network/rate-limit.ts';
import { runIn } from '../virtual/process.ts';
import { scheduler } from '../virtual/scheduler.ts';
import type { Cell, Clocks } from './cell.ts';
import type { StormName } from './storm-names.ts';
import type { Talker } from './talker.ts';

export interface Storm {
  /** In one line, for people. */
  readonly what: string;
  /** Begins it. Returns the talkers whose streams it interrupts. */
  begin(cell: Cell, talkers: readonly Talker[]): readonly Talker[];
  /** How long nobody can be served. Waits are counted from then on. */
  readonly outageMs?: number;
  readonly clocks?: Clocks;
  readonly rate?: RatePolicy;
  readonly use?: number;
  /** Half of the talkers have one account. */
  readonly isHot?: boolean;
}

const BACK_MS = 20_000;
const DELIVERED_MS = 200;
const ZONE_MS = 60_000;
const DATABASE_MS = 20_000;
const PARTITION_MS = 30_000;

export const STORMS: Readonly<Record<StormName, Storm>> = {
  third: {
    what: 'a third of the nodes dies, and is back after 20 s',
    begin: (cell, talkers) => loseNodes(cell, talkers, { ids: third(cell.nodeIds), isDark: false }),
  },
  zone: {
    what: 'a third of the nodes and API processes goes dark for a minute: nobody answers',
    begin(cell, talkers) {
      for (const id of third(cell.apiIds)) {
        cell.kill(id, { isDark: true });
        scheduler.later(ZONE_MS, () => cell.startApi(id));
      }
      return loseNodes(cell, talkers, { ids: third(cell.nodeIds), isDark: true });
    },
  },
  database: {
    what: 'the database is away for 20 s',
    outageMs: DATABASE_MS,
    begin({ database }) {
      database.generation += 1;
      database.state = 'refusing';
      scheduler.later(DATABASE_MS, () => {
        database.state = 'up';
        database.restart();
      });
      return [];
    },
  },
  api: {
    what: 'all API processes restart within 4 s',
    begin(cell) {
      const random = cell.randomOf('storm');
      for (const id of cell.apiIds) {
        cell.kill(id, { isDark: false });
        scheduler.later(random.between(3_000, 4_000), () => cell.startApi(id));
      }
      return [];
    },
  },
  deploy: {
    what: 'every node is drained and replaced, an eighth of them at a time',
    begin(cell) {
      const queue = [...cell.nodeIds];
      const replaceNext = (): void => {
        const id = queue.shift();
        if (id === undefined) return;
        void cell.nodes
          .get(id)
          ?.stop(5_000)
          .then(() => {
            // The kernel still delivers what the process has sent.
            scheduler.later(DELIVERED_MS, () => cell.kill(id, { isDark: false }));
            return scheduler.later(2_000, () => {
              cell.startNode(id);
              scheduler.later(1_000, replaceNext);
            });
          });
      };
      for (let at = 0; at < cell.nodeIds.length; at += 8) replaceNext();
      return [];
    },
  },
  partition: {
    what: 'nine of ten clients are cut off for 30 s',
    outageMs: PARTITION_MS,
    begin(cell, talkers) {
      const { network } = cell;
      const random = cell.randomOf('storm');
      for (const { process } of talkers) if (random.chance(0.9)) network.cutOff.add(process);
      const untilMs = scheduler.nowMs + PARTITION_MS;
      for (const { client, path } of network.links()) {
        if (client.owner !== undefined && network.cutOff.has(client.owner)) {
          path.blockedUntilMs = untilMs;
        }
      }
      const isCut = ({ process }: Talker): boolean => network.cutOff.has(process);
      const interrupted = talkers.filter((talker) => talker.isReady && isCut(talker));
      scheduler.later(PARTITION_MS, () => network.cutOff.clear());
      return interrupted;
    },
  },
  engine: {
    what: 'a quarter of the recognisers of every node dies for 10 s',
    begin({ nodes }) {
      for (const { process, engine } of nodes.values()) {
        runIn(process, () => engine.lose(0, 'dies', 10_000));
      }
      return [];
    },
  },
  hot: {
    what: 'as third, and one account has half of the streams',
    isHot: true,
    begin: (cell, talkers) => STORMS.third.begin(cell, talkers),
  },
  full: {
    what: '95 % of the slots are in use, and a tenth of the nodes dies',
    use: 0.95,
    begin(cell, talkers) {
      const ids = cell.nodeIds.filter((_, at) => at % 10 === 0);
      return loseNodes(cell, talkers, { ids, isDark: false });
    },
  },
  rate: {
    what: 'as third, with the default rate limits',
    rate: { perMinute: 30, burst: 10 },
    begin: (cell, talkers) => STORMS.third.begin(cell, talkers),
  },
  clocks: {
    what: 'as third, with clocks that are wrong by up to two minutes',
    clocks: { drift: 0.001, offsetMs: 120_000 },
    begin: (cell, talkers) => STORMS.third.begin(cell, talkers),
  },
};

function third(ids: readonly string[]): string[] {
  return ids.filter((_, at) => at % 3 === 0);
}

/** Ends nodes, which are back after a while. */
function loseNodes(
  cell: Cell,
  talkers: readonly Talker[],
  { ids, isDark }: { readonly ids: readonly string[]; readonly isDark: boolean },
): Talker[] {
  const lost = talkers.filter(({ isReady, host }) => isReady && ids.includes(host ?? ''));
  const random = cell.randomOf('storm');
  for (const id of ids) {
    cell.kill(id, { isDark });
    const awayMs = isDark ? ZONE_MS : BACK_MS + random.between(0, 3_000);
    scheduler.later(awayMs, () => cell.startNode(id));
  }
  return lost;
}
