import type { FaultName } from '../faults/faults.ts';
import type { ClientRecord } from '../world/client.ts';
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
  'timeout',
]);

/** Failures of nodes after which their sessions fail although the streams were completed. */
const LOSE_SETTLEMENTS: readonly FaultName[] = [
  'node-death',
  'machine-death',
  'node-hang',
  'lease-thread-death',
  'clock-jump',
  'database-clock-jump',
  'database-rollback',
];

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

/** Every failure that a client sees has a cause among the faults of the run. */
export function checkExplained(world: World): string[] {
  return world.clients.flatMap((client) =>
    [
      ...unexplainedCuts(world, client),
      ...unexplainedDrops(world, client),
      ...unexplainedFailure(world, client),
    ].map((found) => `unexplained: ${client.plan.name} ${found}`),
  );
}

/** Whether a node could lose a settlement, so that its session failed and was not charged. */
export function mayLoseSettlements(world: World): boolean {
  return hasFault(world, LOSE_SETTLEMENTS);
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
  const isBackLate = deaths.some((death) => 'backMs' in death && death.backMs > REPLACED_MS);
  if (isBackLate) return [];
  if (others.some(({ name }) => !KEEP_ANSWERS.has(name))) return [];
  const isDropped = taps.some((tap) => tap.isOpen && tap.isDroppedByClient);
  return isDropped ? ['dropped a connection that had to answer'] : [];
}

function unexplainedFailure(world: World, { plan, outcome, error }: ClientRecord): string[] {
  if (plan.kind !== 'sdk' || outcome !== 'failed' || error === null) return [];
  const account = world.plan.accounts.find(({ id }) => id === plan.accountId);
  if (error === 'insufficient_credits' && (account?.creditMs ?? 0) < CREDIT_MS) return [];
  const mayWait = world.plan.faults.length > 0 || isCrowded(world, plan.accountId);
  if (WAITS.has(error) && mayWait) return [];
  const causes = FAILURES.get(error);
  if (causes !== undefined && hasFault(world, causes)) return [];
  return [`failed with ${error}`];
}

/** Whether clients can be in each other's way. */
function isCrowded({ plan }: World, accountId: string): boolean {
  const { clients, accounts, nodes } = plan;
  const limit = accounts.find(({ id }) => id === accountId)?.concurrencyLimit ?? 0;
  const slots = Math.min(...nodes.map(({ recognisers, slots: each }) => recognisers * each));
  const own = clients.filter((client) => client.accountId === accountId).length;
  return own > limit || clients.length > slots;
}

const LOSSES: ReadonlySet<FaultName> = new Set(['engine-death', 'engine-stall']);
/** A stream waits for a slot of another recogniser for longer. */
const RECOVERED_MS = 3_000;

/** A stream that asks for its last finals waits for ten seconds. */
const REPLACED_MS = 7_000;

/** Accounts with less can run out of credit. */
const CREDIT_MS = 3_600_000;

function hasFault({ plan }: World, names: readonly FaultName[]): boolean {
  return plan.faults.some(({ name }) => names.includes(name));
}
