import type { RatePolicy } from '@svc-asr/server/platform/network/rate-limit.ts';
import { createAccount, setConcurrency } from '@svc-asr/server/accounts/accounts.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import { asQueryable } from '../ledger/database.ts';
import { ModelLedger } from '../ledger/model-ledger.ts';
import { Trace } from '../virtual/trace.ts';
import { seedGlobals } from '../virtual/globals.ts';
import { VirtualNetwork } from '../virtual/network.ts';
import { VirtualPool } from '../virtual/pool.ts';
import { VirtualProcess } from '../virtual/process.ts';
import { deriveSeed, Random } from '../virtual/random.ts';
import { scheduler } from '../virtual/scheduler.ts';
import { startApiServer, type ApiServer } from '../servers/api-server.ts';
import { traceLog } from '../servers/log.ts';
import { startStreamingServer, type StreamingServer } from '../servers/streaming-server.ts';
import type { Surroundings } from '../servers/surroundings.ts';
import { createQueuedDatabase } from './queued-database.ts';
import { Series } from './series.ts';
import type { CellSettings } from './settings.ts';

const RECOGNISERS = 4;
const CREDIT_MS = 1_000_000_000;

/** How much the clocks of servers differ. */
export interface Clocks {
  /** As a share of a second in a second. */
  readonly drift: number;
  readonly offsetMs: number;
}

/** The servers of a cell: API processes, streaming nodes and one database. */
export class Cell {
  readonly settings: CellSettings;
  readonly series = new Series();
  readonly network: VirtualNetwork;
  readonly ledger: ModelLedger;
  readonly database: ReturnType<typeof createQueuedDatabase>;
  readonly nodeIds: readonly string[];
  readonly apiIds: readonly string[];
  readonly nodes = new Map<string, StreamingServer>();
  readonly apis = new Map<string, ApiServer>();
  readonly slotsPerNode: number;
  readonly #processes = new Map<string, VirtualProcess>();
  readonly #clocks: Clocks;
  readonly #rate: RatePolicy;
  readonly #random: Random;
  readonly #around: Surroundings;

  constructor(
    settings: CellSettings,
    options: { readonly clocks: Clocks; readonly rate: RatePolicy },
  ) {
    this.settings = settings;
    this.#clocks = options.clocks;
    this.#rate = options.rate;
    const { seed, nodes, apis, streams, use, commits } = settings;
    scheduler.reset({ stepsMax: Infinity });
    seedGlobals(deriveSeed(seed, 'globals'));
    this.#random = this.randomOf('cell');
    this.nodeIds = Array.from({ length: nodes }, (_, at) => `node-${at + 1}`);
    this.apiIds = Array.from({ length: apis }, (_, at) => `api-${at + 1}`);
    this.slotsPerNode = RECOGNISERS * Math.ceil(streams / use / nodes / RECOGNISERS);
    this.network = new VirtualNetwork({ seed, delayMs: [0.5, 30] });
    this.network.install();
    const databaseNetwork = new VirtualNetwork({ seed, delayMs: [0.1, 0.8] });
    const clock = new VirtualProcess('database');
    this.ledger = new ModelLedger({ nowMs: () => Math.floor(scheduler.wallMs(clock)) });
    const { ledger, series } = this;
    const server = createQueuedDatabase({
      ledger,
      commits,
      series,
      random: this.randomOf('database'),
    });
    this.database = server;
    const trace = new Trace();
    this.#around = {
      network: this.network,
      log: traceLog(trace),
      trace,
      randomOf: (name) => this.randomOf(name),
      openPool: (owner, { name, connections, verify }) =>
        new VirtualPool({
          owner,
          name,
          server,
          network: databaseNetwork,
          maxConnections: connections,
          ...(verify === undefined ? {} : { verify }),
        }).asPool,
    };
  }

  randomOf(name: string): Random {
    return new Random(deriveSeed(this.settings.seed, name));
  }

  /** Creates an account with ample credit. */
  async createAccount(limit: number): Promise<string> {
    const id = this.#random.uuid();
    const db = asQueryable((call) => this.ledger.run(call));
    const credit = { accountId: id, ms: CREDIT_MS, id: this.#random.uuid() };
    await createAccount(db, { id, name: 'simulated' });
    await createLedger(db).grant({ ...credit, reason: 'simulated', actor: 'simulator' });
    await setConcurrency(db, { id, limit });
    return id;
  }

  start(): void {
    for (const id of this.nodeIds) this.startNode(id);
    for (const id of this.apiIds) this.startApi(id);
  }

  startNode(id: string): void {
    this.network.dark.delete(id);
    const slots = this.slotsPerNode / RECOGNISERS;
    const plan = { id, rate: this.#rateOf(), recognisers: RECOGNISERS, slots };
    const started = startStreamingServer({ ...plan, decodeMs: [1, 50] }, this.#around);
    this.#onStart(id, started, this.nodes);
  }

  startApi(id: string): void {
    const plan = { id, rate: this.#rateOf(), sessions: this.#rate };
    this.#onStart(id, startApiServer(plan, this.#around), this.apis);
  }

  #onStart<T>(
    id: string,
    { process, started }: { process: VirtualProcess; started: Promise<T> },
    servers: Map<string, T>,
  ): void {
    const { offsetMs } = this.#clocks;
    process.wallOffsetMs = this.#random.between(-offsetMs, offsetMs);
    this.#processes.set(id, process);
    void started.then((server) => (process.isDead ? null : servers.set(id, server)));
  }

  #rateOf(): number {
    const { drift } = this.#clocks;
    return this.#random.between(1 - drift, 1 + drift);
  }

  /** Ends a process without a warning. In the dark nobody answers for it, and its connections just stay silent. */
  kill(id: string, options: { readonly isDark: boolean }): void {
    const process = this.#processes.get(id);
    if (process === undefined) return;
    if (options.isDark) {
      this.network.dark.add(id);
      this.network.isolate(process);
    }
    process.kill();
    this.#processes.delete(id);
    this.nodes.delete(id);
    this.apis.delete(id);
  }

  /** The largest load of a node against the mean. */
  unevenness(): number {
    const loads = [...this.nodes.values()].map(({ engine }) => engine.health().active);
    const mean = loads.reduce((sum, load) => sum + load, 0) / loads.length;
    return mean > 0 ? Math.max(...loads) / mean : 1;
  }
}
