import type { AccountRow, LedgerState, SessionRow, TxnRow } from './state.ts';

const CREDENTIAL_MS = 60_000;
const LATE_CLOSE_MS = 5 * 60_000;

/** The invariants of server/sql/audit that rows of the model can violate, as one line per violation. */
export function modelViolations(state: LedgerState): string[] {
  const problems: string[] = [];
  for (const account of state.accounts.values()) {
    const txns = state.txns.filter(({ accountId }) => accountId === account.id);
    const sessions = [...state.sessions.values()].filter(
      ({ accountId }) => accountId === account.id,
    );
    problems.push(
      ...accountProblems(account, { txns, sessions }).map((name) => `${name}: ${account.id}`),
    );
  }
  for (const session of state.sessions.values()) {
    const txns = state.txns.filter(({ sessionId }) => sessionId === session.id);
    problems.push(...sessionProblems(state, session, txns).map((name) => `${name}: ${session.id}`));
  }
  return problems;
}

function accountProblems(
  account: AccountRow,
  rows: { txns: readonly TxnRow[]; sessions: readonly SessionRow[] },
): string[] {
  const { txns, sessions } = rows;
  const live = sessions.filter(({ slot }) => slot !== null);
  const balances = [account.availableMs, account.reservedMs, account.consumedMs];
  const sums = [
    sum(txns, ({ availableMs }) => availableMs),
    sum(txns, ({ reservedMs }) => reservedMs),
    sum(txns, ({ consumedMs }) => consumedMs),
  ];
  const newest = Math.max(-Infinity, ...live.map(({ createdAt }) => createdAt));
  return failing({
    'balances-equal-entries': balances.every((balance, at) => balance === sums[at]),
    'balances-are-not-negative': balances.every((balance) => balance >= 0),
    'sequences-have-no-gap': txns.every(({ seq }, at) => seq === at + 1),
    'reserved-is-held-by-live-sessions':
      account.reservedMs === sum(live, ({ reservedMs }) => reservedMs),
    'consumed-is-what-was-billed':
      account.consumedMs === sum(sessions, ({ billableMs }) => billableMs),
    'live-sessions-within-limit':
      live.length <= account.concurrencyLimit || newest <= account.limitChangedAt,
    'slots-are-taken-once': new Set(live.map(({ slot }) => slot)).size === live.length,
  });
}

function sessionProblems(
  state: LedgerState,
  session: SessionRow,
  txns: readonly TxnRow[],
): string[] {
  const isOver = session.slot === null;
  const claim = state.claims.get(session.id);
  const charge = Math.min(session.reservedMs, Math.ceil(session.samples / 16_000) * 1000);
  const isLate = session.status === 'completed' && session.sweptAt !== null;
  const count = (...kinds: readonly string[]): number =>
    txns.filter(({ kind }) => kinds.includes(kind)).length;
  return failing({
    'sessions-are-posted-once':
      count('reserve') === 1 &&
      count('complete', 'fail', 'expire') === (isOver ? 1 : 0) &&
      count('settle_late') === (isLate ? 1 : 0),
    'only-completed-is-billed':
      session.status !== 'completed'
        ? session.billableMs === 0
        : isLate
          ? session.billableMs <= charge
          : session.billableMs === charge,
    'claims-agree-with-sessions':
      claim?.upgradeId === (session.upgradeId ?? undefined) &&
      (claim?.claimedAt ?? null) === session.claimedAt &&
      (session.claimedAt ?? -Infinity) < session.expiresAt,
    'sessions-end-when-they-should': endsRightly(session),
  });
}

function endsRightly({ status, slot, ...times }: SessionRow): boolean {
  const { createdAt, expiresAt, completedAt, sweptAt } = times;
  const isOver = slot === null;
  const lateMs = sweptAt === null ? 0 : (completedAt ?? sweptAt) - sweptAt;
  return (
    expiresAt === createdAt + CREDENTIAL_MS &&
    isOver === (status !== 'reserved' && status !== 'active') &&
    isOver === (completedAt !== null) &&
    (status !== 'expired' || completedAt === expiresAt) &&
    (sweptAt === null || status === 'completed' || status === 'failed') &&
    (status !== 'completed' || (lateMs >= 0 && lateMs <= LATE_CLOSE_MS))
  );
}

function failing(checks: Readonly<Record<string, boolean>>): string[] {
  return Object.entries(checks).flatMap(([name, holds]) => (holds ? [] : [name]));
}

function sum<T>(rows: readonly T[], read: (row: T) => number): number {
  return rows.reduce((total, row) => total + read(row), 0);
}
