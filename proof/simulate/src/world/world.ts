import { createAccount, setConcurrency } from '@svc-asr/server/accounts/accounts.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import type { Queryable } from '@svc-asr/server/platform/database/db.ts';
import type { Fault } from './faults.ts';
import { asQueryable, type Call, type LedgerDatabase, type Snapshot } from '../ledger/database.ts';
import { watchApi } from '../watch/api-watch.ts';
import { LedgerWatch } from '../watch/ledger-watch.ts';
import { RequestWatch } from '../watch/request-watch.ts';
import { SlotWatch } from './slot-watch.ts';
import { Trace } from '../virtual/trace.ts';
import { installFetch, type RequestFate } from '../virtual/fetch.ts';
import { seedGlobals } from '../virtual/globals.ts';
import { VirtualNetwork } from '../virtual/network.ts';
import { VirtualPool, type DatabaseServer } from '../virtual/pool.ts';
import { VirtualProcess } from '../virtual/process.ts';
import { deriveSeed, Random } from '../virtual/random.ts';
import { scheduler, type VirtualTimer } from '../virtual/scheduler.ts';
import { startApiServer, type ApiServer } from '../servers/api-server.ts';
import type { ClientRecord } from '../clients/client.ts';
import { traceLog } from '../servers/log.ts';
import type { Plan } from './plan.ts';
import { startRawClient } from '../clients/raw-client.ts';
import { startSdkClient } from '../clients/sdk-client.ts';
import { startStreamingServer, type StreamingServer } from '../servers/streaming-server.ts';
import type { Surroundings } from '../servers/surroundings.ts';

type RequestFault = Extract<Fault, { name: 'lost-request' | 'lost-answer' | 'silent-api' }>;

const FATES = {
  'lost-request': 'request_lost',
  'lost-answer': 'answer_lost',
  'silent-api': 'no_answer',
} as const satisfies Record<RequestFault['name'], RequestFate>;

export type OpenLedger = (nowMs: () => number) => LedgerDatabase;

/** All processes of one run, and what they share. */
export class World {
  readonly plan: Plan;
  readonly trace = new Trace();
  /** Every process that was started and not killed, by name. */
  readonly processes = new Map<string, VirtualProcess>();
  readonly nodes = new Map<string, StreamingServer>();
  readonly apis = new Map<string, ApiServer>();
  readonly clients: ClientRecord[] = [];
  readonly network: VirtualNetwork;
  readonly database: LedgerWatch;
  /** The database without a network, for operators and oracles. */
  readonly direct: Queryable;
  /** The database's clock has its own jumps. */
  readonly databaseClock = new VirtualProcess('database');
  readonly databaseServer: DatabaseServer;
  readonly requestFaults = new Set<RequestFault>();
  /** States that a standby has. */
  readonly saved = new Map<Fault, Snapshot>();
  readonly suspended = new Set<string>();
  /** Processes that died, hung, lost their lease thread or had their clock changed. */
  readonly hurt = new Set<string>();
  wasRolledBack = false;
  /** When the last process was up. */
  startedAtMs = 0;
  /** Broken promises that were noticed during the run. */
  readonly violations: string[] = [];
  /** While the database is slow. */
  statementMs = 0;
  /** The share of statements whose answer is lost, or that are lost themselves. */
  lostShare = 0;
  #isStopping = false;
  #faultsOverMs = 0;
  readonly #plannedFaults: VirtualTimer[] = [];
  readonly #draining = new Set<string>();
  readonly #around: Surroundings;

  constructor(plan: Plan, openLedger: OpenLedger) {
    this.plan = plan;
    const { seed } = plan;
    scheduler.reset();
    seedGlobals(deriveSeed(seed, 'globals'));
    const randomOf = (name: string): Random => new Random(deriveSeed(seed, name));
    const network = new VirtualNetwork({ seed, delayMs: plan.delayMs });
    this.network = network;
    network.install();
    const nowMs = (): number => Math.floor(scheduler.wallMs(this.databaseClock));
    this.database = new LedgerWatch(openLedger(nowMs), {
      nowMs,
      hungUntilMs: (node) => this.processes.get(node)?.hungUntilMs ?? -Infinity,
    });
    this.direct = asQueryable((call) => this.database.run(call));
    this.#connectClients(randomOf('balancer'));
    this.databaseServer = this.#serveDatabase(randomOf('database'));
    this.#around = {
      network,
      log: traceLog(this.trace),
      trace: this.trace,
      randomOf,
      openPool: (owner, { name, connections, verify }) =>
        new VirtualPool({
          owner,
          name,
          server: this.databaseServer,
          network,
          maxConnections: connections,
          onSend: (call) => this.database.onSent(call),
          onQuery: (call, outcome) => this.#onQuery(owner.name, call, outcome),
          ...(verify === undefined ? {} : { verify }),
        }).asPool,
    };
  }

  get accountIds(): string[] {
    return this.plan.accounts.map(({ id }) => id);
  }

  async start(): Promise<void> {
    const ledger = createLedger(this.direct);
    for (const { id, creditMs, concurrencyLimit } of this.plan.accounts) {
      await createAccount(this.direct, { id, name: 'simulated' });
      const credit = { accountId: id, ms: creditMs, id: crypto.randomUUID() };
      await ledger.grant({ ...credit, reason: 'simulated', actor: 'simulator' });
      await setConcurrency(this.direct, { id, limit: concurrencyLimit });
    }
    for (const node of this.plan.nodes) this.startNode(node.id);
    for (const api of this.plan.apis) this.startApi(api.id);
    for (const plan of this.plan.clients) {
      const client =
        plan.kind === 'sdk' ? startSdkClient(plan, this.trace) : startRawClient(plan, this.trace);
      this.clients.push(client);
      this.processes.set(plan.name, client.process);
    }
  }

  startNode(id: string): void {
    const plan = this.plan.nodes.find((node) => node.id === id);
    if (plan === undefined || this.processes.has(id) || this.#isStopping) return;
    this.trace.add('starts', { from: id });
    const { process, started } = startStreamingServer(plan, this.#around);
    this.processes.set(id, process);
    void started.then((server) => {
      this.startedAtMs = scheduler.nowMs;
      return this.nodes.set(id, server);
    });
  }

  startApi(id: string): void {
    const plan = this.plan.apis.find((api) => api.id === id);
    if (plan === undefined || this.processes.has(id) || this.#isStopping) return;
    this.trace.add('starts', { from: id });
    const { process, started } = startApiServer(plan, this.#around);
    this.processes.set(id, process);
    void started.then((server) => {
      this.startedAtMs = scheduler.nowMs;
      const watched = watchApi(server, (found) => this.violations.push(`api: ${found}`));
      return this.apis.set(id, { ...server, ...watched });
    });
  }

  /** All clients have ended, and the processes are being stopped. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Makes a fault happen at its time, unless all clients have ended by then. */
  planFault(atMs: number, overMs: number, inject: () => void): void {
    const timer = scheduler.later(atMs, () => {
      this.#faultsOverMs = Math.max(this.#faultsOverMs, overMs);
      inject();
    });
    this.#plannedFaults.push(timer);
  }

  /** Cancels the faults that have not happened yet. Returns when the others are over. */
  cancelFaults(): number {
    for (const timer of this.#plannedFaults) timer.isLive = false;
    return this.#faultsOverMs;
  }

  isDraining(id: string): boolean {
    return this.#draining.has(id);
  }

  get isAnyDraining(): boolean {
    return this.#draining.size > 0;
  }

  /** Ends a process without a warning. With `isSilent` its connections end without a word, too. */
  kill(id: string, { isSilent }: { readonly isSilent: boolean }): void {
    const process = this.processes.get(id);
    if (process === undefined) return;
    if (isSilent) this.network.isolate(process);
    process.kill();
    this.processes.delete(id);
    this.nodes.delete(id);
    this.apis.delete(id);
  }

  /** Stops a node as an operator does, and starts it again. */
  drain(id: string, input: { readonly drainMs: number; readonly backMs: number }): void {
    const node = this.nodes.get(id);
    if (node === undefined || this.#draining.has(id)) return;
    this.#draining.add(id);
    void node.stop(input.drainMs).then(() => {
      this.trace.add('has drained', { from: id });
      this.kill(id, { isSilent: false });
      this.#draining.delete(id);
      return scheduler.later(input.backMs, () => this.startNode(id));
    });
  }

  vanish(client: ClientRecord, { isSilent }: { readonly isSilent: boolean }): void {
    client.outcome = 'vanished';
    this.kill(client.plan.name, { isSilent });
  }

  /** Ends the processes that have not come up yet, and starts no more. */
  startNoMore(): void {
    this.#isStopping = true;
    const servers = [...this.plan.nodes, ...this.plan.apis].map(({ id }) => id);
    for (const id of servers) {
      if (!this.nodes.has(id) && !this.apis.has(id)) this.kill(id, { isSilent: false });
    }
  }

  /** Ends every process, so that nothing of this run is left in the next one. */
  end(): void {
    for (const process of this.processes.values()) process.kill();
  }

  #connectClients(balancer: Random): void {
    const requests = new RequestWatch((found) => this.violations.push(`request: ${found}`));
    const slots = new SlotWatch(this);
    installFetch({
      network: this.network,
      watch: {
        onAsked: (client) => slots.onAsked(client),
        onSent: (client, request) => requests.onSent(client, request),
        onAnswered: (client, request, answer) => requests.onAnswered(client, request, answer),
        onTold(client, request, answer) {
          slots.onTold(client, answer);
          if (answer.status === 201) requests.onTold(client, request);
        },
      },
      choose: () => (this.apis.size === 0 ? null : balancer.pick([...this.apis.values()])),
      fate: () => {
        for (const { name, share } of this.requestFaults) {
          if (balancer.chance(share)) return FATES[name];
        }
        return 'delivered';
      },
    });
  }

  #serveDatabase(random: Random): DatabaseServer {
    return {
      database: this.database,
      generation: 0,
      state: 'up',
      statementMs: () => this.statementMs + random.between(0.2, 5),
      fate: () => {
        if (!random.chance(this.lostShare)) return 'answered';
        return random.chance(0.5) ? 'not_run' : 'answer_lost';
      },
    };
  }

  #onQuery(from: string, call: Call, outcome: string): void {
    if (outcome === 'answered') return this.database.onAcknowledged(call);
    const { text } = call;
    const name = /(\w+)\(\$1/.exec(text)?.[1];
    if (name !== undefined) this.trace.add(`${name}: ${outcome}`, { from: 'database', to: from });
  }
}
