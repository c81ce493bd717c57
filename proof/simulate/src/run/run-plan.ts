import { planFaults } from './inject.ts';
import { checkCredentials, checkExplained } from '../oracles/explained.ts';
import { checkMoney } from '../oracles/money.ts';
import { probe } from '../oracles/probe.ts';
import { checkDisconnected, checkEmpty, checkStopped } from '../oracles/quiet.ts';
import { checkTranscript } from '../oracles/transcript.ts';
import { scheduler } from '../virtual/scheduler.ts';
import type { Plan } from '../world/plan.ts';
import { World, type OpenLedger } from '../world/world.ts';
import type { TraceLine } from '../virtual/trace.ts';

/** Once faults have stopped, every client ends within this time: the SDK gives up after two minutes. */
const CLIENTS_END_MS = 300_000;
/** And then every session ends within this time: a reservation lasts a minute, and the sweeper waits after an outage. */
const SESSIONS_END_MS = 100_000;
/** A process without streams stops within this time. */
const STOP_MS = 60_000;
const CLOSE_MS = 6_000;
/** A client gives up a connection without an answer 65 s after it last sent or received something. */
const SILENCE_MS = 66_000;
/** The close of a session can be lost with the database's history. The sweeper then ends the session after 20 minutes. */
const LOST_CLOSE_MS = 25 * 60_000;

export interface RunResult {
  readonly plan: Plan;
  /** The same in every run of the same plan. */
  readonly hash: number;
  readonly steps: number;
  readonly virtualMs: number;
  /** Empty if every guarantee was kept. */
  readonly violations: readonly string[];
  /** How each client ended. */
  readonly outcomes: readonly string[];
  readonly trace: readonly TraceLine[];
}

/** Runs one plan from beginning to end. */
export async function runPlan(plan: Plan, openLedger: OpenLedger): Promise<RunResult> {
  const world = new World(plan, openLedger);
  await world.start();
  const violations = await live(world);
  for (const client of world.clients) {
    const found = [...client.violations, ...checkTranscript(client)];
    violations.push(...found.map((violation) => `${client.plan.name}: ${violation}`));
  }
  violations.push(...world.violations);
  violations.push(...(await world.database.violations()).map((found) => `audit: ${found}`));
  violations.push(
    ...(await checkMoney(world)),
    ...checkCredentials(world),
    ...checkExplained(world),
  );
  world.end();
  return {
    plan,
    hash: scheduler.hash >>> 0,
    steps: scheduler.steps,
    virtualMs: scheduler.nowMs,
    violations,
    outcomes: world.clients.map(({ plan: { kind }, outcome, error }) =>
      `${kind} ${outcome} ${error ?? ''}`.trim(),
    ),
    trace: world.trace.lines,
  };
}

/** Runs until all is quiet. Returns what did not end in time. */
async function live(world: World): Promise<string[]> {
  const faultsOverMs = planFaults(world);
  const clientsEnd = (): boolean => world.clients.every(({ outcome }) => outcome !== 'running');
  const clientsEndMs = faultsOverMs + CLIENTS_END_MS;
  if ((await scheduler.run(clientsEnd, clientsEndMs)) !== 'done') {
    return ['liveness: a client did not end'];
  }
  const overMs = world.cancelFaults();
  await scheduler.run(() => scheduler.nowMs > overMs, overMs);
  if (!(await sessionsEnd(world))) return ['liveness: a session did not end'];
  const violations = await untilEmpty(world);
  violations.push(...(await probe(world, overMs)));
  violations.push(...(await untilEmpty(world)));
  return [...violations, ...(await stopAll(world))];
}

/** The sweeper runs every second, so looking twice as often is enough. */
async function sessionsEnd(world: World): Promise<boolean> {
  const limitMs = scheduler.nowMs + (world.wasRolledBack ? LOST_CLOSE_MS : SESSIONS_END_MS);
  for (;;) {
    if ((await world.database.liveSessions()) === 0) return true;
    const untilMs = scheduler.nowMs + 500;
    const how = await scheduler.run(() => scheduler.nowMs >= untilMs, limitMs);
    if (how !== 'done') return false;
  }
}

/** Streams whose session has ended close their connection and free their recogniser soon. */
async function untilEmpty(world: World): Promise<string[]> {
  const limitMs = scheduler.nowMs + SESSIONS_END_MS;
  for (;;) {
    const left = checkEmpty(world);
    const untilMs = scheduler.nowMs + 500;
    if (left.length === 0) return [];
    const how = await scheduler.run(() => scheduler.nowMs >= untilMs, limitMs);
    if (how !== 'done') return left;
  }
}

async function stopAll(world: World): Promise<string[]> {
  world.startNoMore();
  let stopped = 0;
  const nodes = [...world.nodes].filter(([id]) => !world.isDraining(id)).map(([, node]) => node);
  const servers = [...nodes, ...world.apis.values()];
  const stopping = Promise.all(servers.map((server) => server.stop(0).then(() => (stopped += 1))));
  void stopping.catch(() => {});
  const isStopped = (): boolean => stopped === servers.length && !world.isAnyDraining;
  if ((await scheduler.run(isStopped, scheduler.nowMs + STOP_MS)) !== 'done') {
    return ['liveness: a process did not stop'];
  }
  // Clients that don't answer a close frame are disconnected.
  const closedMs = scheduler.nowMs + CLOSE_MS;
  await scheduler.run(() => scheduler.nowMs >= closedMs, closedMs);
  const problems = checkStopped(world);
  const areGone = (): boolean => checkDisconnected(world).length === 0;
  await scheduler.run(areGone, scheduler.nowMs + SILENCE_MS);
  return [...problems, ...checkDisconnected(world)];
}
