import { createLedger, type UsageRecord } from '@svc-asr/server/ledger/ledger.ts';
import { mayFailWhenBroken, mayLoseSettlement } from './explained.ts';
import type { SessionWatch } from '../clients/session-watch.ts';
import type { ClientPlan } from '../clients/client.ts';
import type { SessionTap } from '../clients/session-tap.ts';
import type { World } from '../world/world.ts';

/** Close codes of failures that are ours. */
const OUR_FAULTS: ReadonlySet<number> = new Set([1011, 1012, 1013]);

/** Compares the ledger with what every client was told. */
export async function checkMoney(world: World): Promise<string[]> {
  const problems: string[] = [];
  const sessions = await readSessions(world);
  for (const { plan, taps, transcript, outcome } of world.clients) {
    for (const tap of taps) {
      const session = sessions.get(tap.sessionId ?? '');
      if (session === undefined) {
        // A rolled back database has lost sessions.
        if (tap.sessionId !== null && !world.wasRolledBack) {
          problems.push(`${plan.name}: the ledger doesn't know session ${tap.sessionId}`);
        }
        continue;
      }
      const mayFail = mayLoseSettlement(world, tap.host);
      const may = { fail: mayFail, break: mayFail || mayFailWhenBroken(world) };
      const problem = world.wasRolledBack ? null : compare(tap, session, may);
      const free = unpaid(tap, session, { taps, sessions });
      for (const one of [problem, world.wasRolledBack ? null : free]) {
        if (one !== null) problems.push(`${plan.name}: ${session.id.slice(0, 8)} ${one}`);
      }
    }
    if (world.wasRolledBack || outcome === 'vanished') continue;
    const twiceMs = transcript === null ? 0 : chargedTwiceMs(plan, taps, sessions);
    if (twiceMs > 0) problems.push(`${plan.name}: is charged for ${twiceMs} ms twice`);
    const continuing = new Set(
      taps.flatMap(({ watch, sessionId }) => (watch.continues.length > 0 ? [sessionId] : [])),
    );
    for (const { sessionId, billableMs } of transcript?.sessions ?? []) {
      const session = sessions.get(sessionId);
      if (session === undefined || billableMs === null) continue;
      if (continuing.has(sessionId) && session.billableMs < billableMs) continue;
      if (session.billableMs !== billableMs && !isSettledLate(session, billableMs)) {
        const costs = `${session.billableMs} ms, and its receipt says ${billableMs} ms`;
        problems.push(`${plan.name}: session ${sessionId.slice(0, 8)} costs ${costs}`);
      }
    }
  }
  return problems.map((problem) => `money: ${problem}`);
}

/**
 * A session is cheaper by the audio that its client sent to a lost session and never got a final for, if that session was
 * charged.
 */
function unpaid(
  { watch }: SessionTap,
  { status, audioMs, billableMs }: UsageRecord,
  earlier: {
    readonly taps: readonly SessionTap[];
    readonly sessions: ReadonlyMap<string, UsageRecord>;
  },
): string | null {
  if (status !== 'completed' || watch.isDraining || watch.continues.length === 0) return null;
  const paidMs = watch.continues.map((id) => {
    const lost = earlier.taps.find(({ sessionId }) => sessionId === id)?.watch;
    const wasCharged = (earlier.sessions.get(id)?.billableMs ?? 0) > 0;
    return lost === undefined || !wasCharged ? 0 : lost.sentMs - lost.settledMs;
  });
  const mostMs = wholeSeconds(Math.max(...paidMs));
  const freeMs = wholeSeconds(audioMs) - billableMs;
  return freeMs <= mostMs ? null : `has ${freeMs} ms free, and ${mostMs} ms were paid before`;
}

function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000) * 1000;
}

/** Every session is rounded up to whole seconds, so that each may cost almost a second more than its audio. */
function chargedTwiceMs(
  { steps }: ClientPlan,
  taps: readonly SessionTap[],
  sessions: ReadonlyMap<string, UsageRecord>,
): number {
  const saidMs = steps.reduce((sum, step) => {
    return step.do === 'say' || step.do === 'say-fast' || step.do === 'silence'
      ? sum + step.ms
      : sum;
  }, 0);
  const ids = new Set(taps.map(({ sessionId }) => sessionId ?? ''));
  if (hasEndedInReverse([...ids].flatMap((id) => sessions.get(id) ?? []))) return 0;
  // An utterance that is cut a second time is charged as far as the second session got (docs/ledger.md).
  for (const { watch, end, sessionId } of taps) {
    const isCut = end?.code !== 1000 || end.reason !== 'completed';
    if (watch.continues.length > 0 && isCut) ids.delete(sessionId ?? '');
  }
  const costs = [...ids].map((id) => sessions.get(id)?.billableMs ?? 0).filter((ms) => ms > 0);
  const costMs = costs.reduce((sum, ms) => sum + ms, 0);
  return Math.max(0, costMs - saidMs - 1000 * costs.length);
}

/**
 * A gap: if a client's next stream ends before the node of its lost session has ended that, for example because the node
 * hung, nobody compares their audio, and both are charged (docs/ledger.md).
 */
function hasEndedInReverse(sessions: readonly UsageRecord[]): boolean {
  const ends = sessions.map(({ completedAt }) => completedAt?.getTime() ?? Infinity);
  return ends.some((end, at) => ends.slice(at + 1).some((later) => later < end));
}

async function readSessions(world: World): Promise<Map<string, UsageRecord>> {
  const ledger = createLedger(world.direct);
  const balances = await Promise.all(world.accountIds.map((id) => ledger.balance(id)));
  const all = balances.flatMap((balance) => balance?.recentSessions ?? []);
  return new Map(all.map((session) => [session.id, session]));
}

/** The credit of a session that the sweeper failed by mistake was returned, so less may be left to charge. */
function isSettledLate({ status, billableMs }: UsageRecord, toldMs: number): boolean {
  return status === 'failed' && billableMs === 0 && toldMs > 0;
}

/** Of a connection that broke, the client does not know the end. What it was told before is charged. */
function compareBroken(watch: SessionWatch, session: UsageRecord, mayFail: boolean): string | null {
  const { status, billableMs, audioMs } = session;
  if (status === 'failed' && !mayFail) return 'failed although only its connection broke';
  if (status !== 'completed' || watch.isDraining) return null;
  if (audioMs >= watch.settledMs && billableMs >= watch.billableMs) return null;
  const told = `${watch.settledMs} ms for ${watch.billableMs} ms`;
  return `has ${audioMs} ms for ${billableMs} ms, and its client was told of ${told}`;
}

function compare(
  { watch, end }: SessionTap,
  session: UsageRecord,
  may: { readonly fail: boolean; readonly break: boolean },
): string | null {
  const { status, billableMs, audioMs } = session;
  if (status === 'reserved' || status === 'active') return `is still ${status}`;
  if (billableMs > wholeSeconds(watch.sentMs)) {
    return `costs ${billableMs} ms for ${watch.sentMs} ms of audio`;
  }
  if (end === null || end.code === 1006 || end.code === 1005) {
    return compareBroken(watch, session, may.break);
  }
  if (OUR_FAULTS.has(end.code)) {
    return billableMs === 0 ? null : `costs ${billableMs} ms although it ended with ${end.code}`;
  }
  if (status === 'failed') return may.fail ? null : `failed although it ended with ${end.code}`;
  if (audioMs !== watch.settledMs) {
    return `has ${audioMs} ms of audio, and its client was told of ${watch.settledMs} ms`;
  }
  // The lost session of a client can end after the last final of the next one, and makes it cheaper.
  if (
    billableMs < watch.billableMs ? watch.continues.length === 0 : billableMs !== watch.billableMs
  ) {
    return `costs ${billableMs} ms, and its client was told of ${watch.billableMs} ms`;
  }
  return null;
}
