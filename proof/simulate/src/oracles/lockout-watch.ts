import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import type { FaultName } from '../world/faults.ts';
import { scheduler } from '../virtual/scheduler.ts';
import type { World } from '../world/world.ts';

/** An account can be locked out for this long by a stream whose node died. */
const LOCKED_OUT_MS = 8_000;
/** No session fails in the first two lease lengths of a database, and the sweeper runs every second. */
const FIRST_SWEEP_MS = 14_000;
/** Statements and messages take time. */
const SLACK_MS = 500;

/** Faults that don't delay the sweeper. */
const NO_DELAY: ReadonlySet<FaultName> = new Set([
  'account-suspended',
  'client-vanishes',
  'engine-death',
  'engine-stall',
  'half-open',
  'lost-answer',
  'lost-request',
  'machine-death',
  'node-death',
  'reset-connection',
  'session-ended',
  'silent-api',
  'slow-reader',
  'stalled-connection',
]);

/** Checks that the streams of a node that dies now don't lock their accounts out for longer than promised. */
export function watchLockout(world: World, node: string): void {
  if (world.plan.faults.some(({ name }) => !NO_DELAY.has(name))) return;
  const lost = world.clients.flatMap(({ plan: { accountId }, taps }) =>
    taps
      .filter(({ host, isOpen, end }) => host === node && isOpen && end === null)
      .map(({ sessionId }) => ({ accountId, sessionId })),
  );
  const dueMs = Math.max(scheduler.nowMs + LOCKED_OUT_MS, FIRST_SWEEP_MS) + SLACK_MS;
  const ledger = createLedger(world.direct);
  const check = async (): Promise<void> => {
    for (const { accountId, sessionId } of lost) {
      const balance = await ledger.balance(accountId);
      const session = balance?.recentSessions.find(({ id }) => id === sessionId);
      if (session?.status !== 'active') continue;
      world.violations.push(`lockout: a session of ${node} is active long after its death`);
    }
  };
  if (lost.length === 0) return;
  scheduler.later(dueMs - scheduler.nowMs, () => {
    if (!world.isStopping) void scheduler.hold(check());
  });
}
