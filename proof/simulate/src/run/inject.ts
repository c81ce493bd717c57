import { setAccountStatus } from '@svc-asr/server/accounts/accounts.ts';
import { requestSessionEnd } from '@svc-asr/server/sessions/end-requests.ts';
import { acceptLedgerHistory } from '@svc-asr/server/ledger/history-marks.ts';
import { watchLockout } from '../oracles/lockout-watch.ts';
import { runIn } from '../virtual/process.ts';
import { scheduler } from '../virtual/scheduler.ts';
import type { StreamingServer } from '../servers/streaming-server.ts';
import type { World } from '../world/world.ts';
import type { Fault } from '../world/faults.ts';

type Of<N extends Fault['name']> = Extract<Fault, { readonly name: N }>;

/** A process trusts the complete database again within two checks of its history. */
const TRUST_MS = 6_000;

/** Plans every fault of the world. Returns the time when the last one is over. */
export function planFaults(world: World): number {
  let overMs = 0;
  for (const fault of world.plan.faults) {
    if (fault.name === 'database-rollback') saveBefore(world, fault);
    const overAtMs = fault.atMs + lastsMs(fault);
    world.planFault(fault.atMs, overAtMs, () => inject(world, fault));
    overMs = Math.max(overMs, overAtMs);
  }
  return overMs;
}

function lastsMs(fault: Fault): number {
  const forMs = 'forMs' in fault ? fault.forMs : 0;
  const backMs = 'backMs' in fault ? fault.backMs : 0;
  const afterMs = 'afterMs' in fault ? fault.afterMs : 0;
  const drainMs = 'drainMs' in fault ? fault.drainMs : 0;
  const jumpMs = 'byMs' in fault ? Math.abs(fault.byMs) : 0;
  const trustMs = fault.name === 'database-rollback' ? TRUST_MS : 0;
  return forMs + backMs + afterMs + drainMs + jumpMs + trustMs;
}

/** The state that a standby will have when it takes over. */
function saveBefore(world: World, fault: Of<'database-rollback'>): void {
  scheduler.later(Math.max(0, fault.atMs - fault.lostMs), () => {
    world.saved.set(fault, world.database.snapshot());
  });
}

function inject(world: World, fault: Fault): void {
  const { network, trace, databaseServer: server } = world;
  trace.add(describe(fault), { from: 'fault' });
  switch (fault.name) {
    case 'slow-network':
      network.extraDelayMs += fault.extraMs;
      scheduler.later(fault.forMs, () => (network.extraDelayMs -= fault.extraMs));
      return;
    case 'half-open':
    case 'reset-connection':
    case 'stalled-connection':
    case 'slow-reader':
      return disturb(world, fault);
    case 'lost-request':
    case 'lost-answer':
    case 'silent-api':
      world.requestFaults.add(fault);
      scheduler.later(fault.forMs, () => world.requestFaults.delete(fault));
      return;
    case 'engine-death':
    case 'engine-stall': {
      const node = chosen(busyNodes(world), fault.pick);
      if (node === undefined) return;
      const how = fault.name === 'engine-death' ? 'dies' : 'hangs';
      runIn(node.process, () => node.engine.lose(fault.pick, how, fault.backMs));
      return;
    }
    case 'node-death':
    case 'machine-death': {
      const id = chosen(world.plan.nodes, fault.pick)?.id;
      if (id === undefined || world.isDraining(id)) return;
      world.hurt.add(id);
      watchLockout(world, id);
      world.kill(id, { isSilent: fault.name === 'machine-death' });
      scheduler.later(fault.backMs, () => world.startNode(id));
      return;
    }
    case 'api-death': {
      const id = chosen(world.plan.apis, fault.pick)?.id;
      if (id === undefined) return;
      world.kill(id, { isSilent: false });
      scheduler.later(fault.backMs, () => world.startApi(id));
      return;
    }
    case 'node-hang': {
      const node = chosen([...world.nodes.values()], fault.pick);
      if (node === undefined) return;
      world.hurt.add(node.process.name);
      node.process.hungUntilMs = scheduler.nowMs + fault.forMs;
      return;
    }
    case 'lease-thread-death': {
      const node = chosen([...world.nodes.values()], fault.pick);
      if (node === undefined) return;
      world.hurt.add(node.process.name);
      node.endLeaseThread();
      return;
    }
    case 'clock-jump': {
      const victim = chosen([...world.processes.values()], fault.pick);
      if (victim === undefined) return;
      world.hurt.add(victim.name);
      victim.wallOffsetMs += fault.byMs;
      return;
    }
    case 'database-clock-jump':
      world.databaseClock.wallOffsetMs += fault.byMs;
      return;
    case 'database-away':
    case 'database-unreachable':
      server.generation += 1;
      server.state = fault.name === 'database-away' ? 'refusing' : 'unreachable';
      scheduler.later(fault.forMs, () => (server.state = 'up'));
      return;
    case 'database-slow':
      world.statementMs = fault.statementMs;
      scheduler.later(fault.forMs, () => (world.statementMs = 0));
      return;
    case 'database-answers-lost':
      world.lostShare = fault.share;
      scheduler.later(fault.forMs, () => (world.lostShare = 0));
      return;
    case 'database-failover':
      world.lostShare = fault.share;
      scheduler.later(fault.forMs / 2, () => failOver(world, fault.forMs / 2));
      return;
    case 'database-rollback':
      return rollBack(world, fault);
    case 'drain': {
      const id = chosen(world.plan.nodes, fault.pick)?.id;
      if (id !== undefined) world.drain(id, fault);
      return;
    }
    case 'client-vanishes': {
      const client = chosen(world.clients, fault.pick);
      if (client === undefined || client.outcome !== 'running') return;
      world.vanish(client, { isSilent: fault.isSilent });
      return;
    }
    case 'account-suspended': {
      const id = chosen(world.accountIds, fault.pick);
      if (id === undefined) return;
      const set = (status: 'active' | 'suspended'): void =>
        void scheduler.hold(setAccountStatus(world.direct, { id, status }));
      world.suspended.add(id);
      set('suspended');
      scheduler.later(fault.forMs, () => set('active'));
      return;
    }
    case 'session-ended': {
      const open = world.clients.flatMap(({ taps }) => taps.filter(({ end }) => end === null));
      const sessionId = chosen(open, fault.pick)?.sessionId ?? null;
      if (sessionId !== null) void scheduler.hold(requestSessionEnd(world.direct, sessionId));
    }
  }
}

function disturb(
  world: World,
  fault: Of<'half-open' | 'reset-connection' | 'stalled-connection' | 'slow-reader'>,
): void {
  const link = chosen(world.network.links(), fault.pick);
  if (link === undefined) return;
  const { client, server, path } = link;
  switch (fault.name) {
    case 'half-open':
      path.blockedUntilMs = Infinity;
      return;
    case 'reset-connection':
      runIn(client.owner, () => client.destroy());
      runIn(server.owner, () => server.destroy());
      return;
    case 'stalled-connection':
      path.blockedUntilMs = scheduler.nowMs + fault.forMs;
      return;
    case 'slow-reader':
      client.holdsBack = true;
      scheduler.later(fault.forMs, () => runIn(client.owner, () => client.readAgain()));
  }
}

function failOver(world: World, forMs: number): void {
  const { databaseServer: server } = world;
  server.generation += 1;
  server.state = 'refusing';
  scheduler.later(forMs, () => {
    world.lostShare = 0;
    server.state = 'up';
    world.database.restart();
  });
}

function rollBack(world: World, fault: Of<'database-rollback'>): void {
  const { database, databaseServer: server } = world;
  const older = world.saved.get(fault);
  if (older === undefined) return;
  const complete = database.snapshot();
  world.wasRolledBack = true;
  const takeOver = (state: typeof complete): void => {
    server.generation += 1;
    database.restore(state);
    database.restart();
  };
  takeOver(older);
  server.state = 'refusing';
  scheduler.later(fault.forMs, () => (server.state = 'up'));
  // An operator accepts the loss, and again for processes that find out later.
  const accept = (): void => {
    if (world.isStopping) return;
    void scheduler.hold(acceptLedgerHistory(world.direct, 'simulated'));
    scheduler.later(TRUST_MS, accept);
  };
  scheduler.later(fault.forMs + fault.afterMs, () => {
    if (world.isStopping) return;
    if (fault.how === 'accepted') return accept();
    const refusing = servers(world).filter(({ history }) => history.isRolledBack);
    takeOver(complete);
    const completeAtMs = scheduler.nowMs;
    // Processes that used the older database have history that the complete one lacks. An operator decides for them.
    scheduler.later(TRUST_MS, () => {
      const others = world.plan.faults.filter((other) => other !== fault);
      const isDisturbed = world.isStopping || others.some((other) => disturbs(other, completeAtMs));
      const alive = new Set<unknown>(servers(world));
      const hung = [...world.nodes.values()].filter(
        ({ process: { hungUntilMs } }) => hungUntilMs > completeAtMs,
      );
      for (const node of hung) alive.delete(node);
      const still = refusing.filter((one) => alive.has(one) && one.history.isRolledBack);
      if (!isDisturbed && still.length > 0) {
        world.violations.push('history: a process refuses the complete database');
      }
      accept();
    });
  });
}

function servers(world: World) {
  return [...world.nodes.values(), ...world.apis.values()];
}

/** Whether a fault can delay or change what processes learn of the database after a time. */
function disturbs(fault: Fault, sinceMs: number): boolean {
  if (fault.name === 'database-rollback') return true;
  const isOfDatabase = fault.name.startsWith('database-') || fault.name === 'slow-network';
  return isOfDatabase && fault.atMs < scheduler.nowMs && fault.atMs + lastsMs(fault) > sinceMs;
}

/** Those that serve streams, or all if none does. */
function busyNodes({ nodes }: World): StreamingServer[] {
  const all = [...nodes.values()];
  const busy = all.filter(({ engine }) => engine.health().active > 0);
  return busy.length > 0 ? busy : all;
}

function chosen<T>(items: readonly T[], pick: number): T | undefined {
  return items[pick % Math.max(1, items.length)];
}

function describe(fault: Fault): string {
  const { name, atMs: _atMs, ...details } = fault;
  const parts = Object.entries(details).map(([key, value]) => `${key} ${shown(value)}`);
  return [name, ...parts].join(', ');
}

function shown(value: string | number | boolean): string {
  return typeof value === 'number' ? String(Math.round(value * 100) / 100) : String(value);
}
