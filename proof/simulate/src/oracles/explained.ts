import { proofOf } from '@svc-asr/protocol/lost-host.ts';
import type { FaultName } from '../world/faults.ts';
import type { ClientRecord } from '../clients/client.ts';
import type { World } from '../world/world.ts';

/** Close codes by which a node says that it failed, and the faults that can make it. */
const CUTS: ReadonlyMap<number, readonly FaultName[]> = new Map([
  [1011, ['node-hang', 'drain']],
  [1012, ['drain']],
]);

/** The faults that can make an SDK stream fail with each code. */
const FAILURES: ReadonlyMap<string, readonly FaultName[]> = new Map([
  ['account_inactive', ['account-suspended']],
  ['session_ended', ['session-ended']],
  ['invalid_session_credential', ['database-rollback']],
  [
    'finish_timeout',
    [
      'slow-network',
      'half-open',
      'stalled-connection',
      'slow-reader',
      'engine-death',
      'engine-stall',
      'node-hang',
      'machine-death',
    ],
  ],
]);

/** The SDK gives up waiting for a session, because of any fault or because others have all sessions or slots. */
const WAITS: ReadonlySet<string> = new Set([
  'capacity_exceeded',
  'concurrency_limit_exceeded',
  'connection_failed',
  'connection_lost',
  'connection_refused',
  'internal_error',
  'network_error',
  'service_restart',
  'service_restarting',
  'service_unavailable',
  'session_credential_expired',
  'session_credential_used',
  'timeout',
]);

/** Faults after which a session of any node can fail although its stream was completed. */
const LOSE_SETTLEMENTS: readonly FaultName[] = ['database-clock-jump', 'database-rollback'];

/** Faults that make no client wait for a session, or give up. */
const HARMLESS: ReadonlySet<FaultName> = new Set([
  'client-vanishes',
  'reset-connection',
  'session-ended',
  'slow-reader',
]);

/** Faults that break connections, or none. A node sees a client that hangs up, and charges what it accepted. */
const BREAK_CONNECTIONS: ReadonlySet<FaultName> = new Set([
  'api-death',
  'client-vanishes',
  'half-open',
  'lost-answer',
  'lost-request',
  'reset-connection',
  'silent-api',
  'slow-network',
  'slow-reader',
  'stalled-connection',
]);

/** Faults during which every open connection keeps answering. */
const KEEP_ANSWERS: ReadonlySet<FaultName> = new Set([
  'api-death',
  'database-answers-lost',
  'database-away',
  'database-failover',
  'database-slow',
  'database-unreachable',
  'lost-answer',
  'lost-request',
  'reset-connection',
  'session-ended',
  'silent-api',
]);

/** Faults during which the API creates sessions as always. */
const KEEP_SESSIONS: ReadonlySet<FaultName> = new Set([
  'client-vanishes',
  'engine-death',
  'engine-stall',
  'half-open',
  'reset-connection',
  'session-ended',
  'slow-reader',
  'stalled-connection',
]);

/** Faults after which nobody gives a claim back, or a credential expires early. */
const LOSE_CLAIMS: readonly FaultName[] = [
  'clock-jump',
  'database-clock-jump',
  'database-rollback',
  'drain',
  'lease-thread-death',
  'machine-death',
  'node-death',
  'node-hang',
];
const SPENT: ReadonlySet<string> = new Set([
  'session_credential_expired',
  'session_credential_used',
]);
/** A credential lasts a minute from its creation. A client opens it soon. */
const SURELY_VALID_MS = 45_000;

/** A credential that opened no stream, and that its client has not given up, opens one until it expires. */
export function checkCredentials(world: World): string[] {
  if (hasFault(world, LOSE_CLAIMS)) return [];
  const taps = world.clients.flatMap((client) =>
    client.taps.filter(({ credential }) => !client.givenUp.has(proofOf(credential))),
  );
  const attempts = Map.groupBy(taps, ({ credential }) => credential);
  return [...attempts.values()].flatMap((same) => {
    // An upgrade without an answer may have opened a stream.
    if (same.some(({ end }) => end === null || end.refusal === null)) return [];
    const validUntilMs = (same[0]?.startedAtMs ?? 0) + SURELY_VALID_MS;
    const spent = same.find(
      ({ end, endedAtMs }) => endedAtMs < validUntilMs && SPENT.has(end?.refusal?.code ?? ''),
    );
    if (spent === undefined) return [];
    return [`credential: refused with ${spent.end?.refusal?.code}, and it opened no stream`];
  });
}

/** Every failure that a client sees has a cause among the faults of the run. */
export function checkExplained(world: World): string[] {
  return world.clients.flatMap((client) =>
    [
      ...unexplainedCuts(world, client),
      ...unexplainedDrops(world, client),
      ...unexplainedFailure(world, client),
      ...unexplainedWaits(world, client),
    ].map((found) => `unexplained: ${client.plan.name} ${found}`),
  );
}

/** Whether a node could lose a settlement, so that its session failed and was not charged. */
export function mayLoseSettlement(world: World, node: string): boolean {
  return world.hurt.has(node) || hasFault(world, LOSE_SETTLEMENTS);
}

/** Whether a session whose connection broke can have failed for another reason. */
export function mayFailWhenBroken({ plan }: World): boolean {
  return plan.faults.some(({ name }) => !BREAK_CONNECTIONS.has(name));
}

function unexplainedCuts(world: World, { taps }: ClientRecord): string[] {
  return taps.flatMap(({ end }) => {
    const causes = CUTS.get(end?.code ?? 0);
    if (end === null || causes === undefined || hasFault(world, causes)) return [];
    if (end.code === 1011 && mayLoseRecogniser(world)) return [];
    return [`was cut with ${end.code} ${end.reason}`];
  });
}

/** One recogniser that is soon replaced cuts no stream: its audio is replayed. */
function mayLoseRecogniser({ plan: { faults } }: World): boolean {
  const losses = faults.filter(({ name }) => LOSSES.has(name));
  return losses.length > 1 || losses.some((loss) => 'backMs' in loss && loss.backMs > RECOVERED_MS);
}

/** The SDK drops a connection that does not answer. One dead recogniser is replaced before that, if it is back soon. */
function unexplainedDrops({ plan: { faults } }: World, { plan, taps }: ClientRecord): string[] {
  const deaths = faults.filter((fault) => fault.name === 'engine-death');
  const others = faults.filter(({ name }) => name !== 'engine-death');
  if (plan.kind !== 'sdk' || deaths.length > 1) return [];
  const awayMs = plan.closesEarly === true ? CLOSE_WAITS_MS : REPLACED_MS;
  const isBackLate = deaths.some((death) => 'backMs' in death && death.backMs > awayMs);
  if (isBackLate) return [];
  if (others.some(({ name }) => !KEEP_ANSWERS.has(name))) return [];
  const isDropped = taps.some((tap) => tap.isOpen && tap.isDroppedByClient);
  return isDropped ? ['dropped a connection that had to answer'] : [];
}

/** A stream whose upgrade was refused for now tries again soon: its own reservation must not block it. */
function unexplainedWaits(world: World, { plan, taps }: ClientRecord): string[] {
  if (plan.kind !== 'sdk' || isLimited(world, plan.accountId)) return [];
  if (world.plan.faults.some(({ name }) => !KEEP_SESSIONS.has(name))) return [];
  return taps
    .filter(({ refusedForMs }) => refusedForMs > TRIES_AGAIN_MS)
    .map(
      ({ refusedForMs: ms }) => `tried again ${Math.round(ms)} ms after its upgrade was refused`,
    );
}

function unexplainedFailure(world: World, { plan, outcome, error }: ClientRecord): string[] {
  if (plan.kind !== 'sdk' || outcome !== 'failed' || error === null) return [];
  const account = world.plan.accounts.find(({ id }) => id === plan.accountId);
  if (error === 'insufficient_credits' && (account?.creditMs ?? 0) < CREDIT_MS) return [];
  const isHindered = world.plan.faults.some(({ name }) => !HARMLESS.has(name));
  const mayWait = isHindered || isCrowded(world, plan.accountId);
  if (WAITS.has(error) && mayWait) return [];
  const causes = FAILURES.get(error);
  if (causes !== undefined && hasFault(world, causes)) return [];
  return [`failed with ${error}`];
}

/** Whether clients can be in each other's way. */
function isCrowded(world: World, accountId: string): boolean {
  const { clients, nodes } = world.plan;
  const slots = Math.min(...nodes.map(({ recognisers, slots: each }) => recognisers * each));
  return isLimited(world, accountId) || clients.length > slots;
}

/** Whether the account has more clients than it may have sessions. */
function isLimited({ plan: { clients, accounts } }: World, accountId: string): boolean {
  const limit = accounts.find(({ id }) => id === accountId)?.concurrencyLimit ?? 0;
  return clients.filter((client) => client.accountId === accountId).length > limit;
}

const LOSSES: ReadonlySet<FaultName> = new Set(['engine-death', 'engine-stall']);
/** A stream waits for a slot of another recogniser for longer. */
const RECOVERED_MS = 3_000;

/** The SDK waits for ten seconds at most before it tries again, and three more for another session. */
const TRIES_AGAIN_MS = 15_000;

/** A stream that asks for its last finals waits for ten seconds. */
const REPLACED_MS = 7_000;
/** One that is closed waits for three. */
const CLOSE_WAITS_MS = 2_000;

/** Accounts with less can run out of credit. */
const CREDIT_MS = 3_600_000;

function hasFault({ plan }: World, names: readonly FaultName[]): boolean {
  return plan.faults.some(({ name }) => names.includes(name));
}
