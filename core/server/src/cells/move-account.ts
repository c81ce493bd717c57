import { findCell } from '../accounts/cell.ts';
import { auditAccount } from '../ledger/reports/audit-account.ts';
import type { Pool } from '../platform/database/db.ts';
import { sleep } from '../platform/sleep.ts';
import { queryRows, statement, t } from '../platform/database/statement.ts';
import { compareCopies, copyAccount } from './copy-account.ts';
import { findObstacle } from './move-obstacles.ts';
import { nextStep, type MoveStep, type NextStep } from './move-steps.ts';
import { readResidence } from './residence.ts';

const DRAIN_POLL_MS = 200;
/** More than the five steps, in case another process moves the account meanwhile. */
const STEPS_MAX = 10;

const CANCEL = statement('select cancel_move($1) as cancelled', { cancelled: t.boolean() });
const ARRIVAL = statement('select arrival_receipt($1, $2) as receipt', {
  receipt: t.nullable(t.text()),
});
const DEPARTURE = statement('select departure_receipt($1, $2) as receipt', {
  receipt: t.nullable(t.text()),
});
const SEAL = statement('select seal_account($1, $2) as live', { live: t.number() });

/** The move cannot continue. Completed steps stay, and the next call continues from there. */
export class MoveRefused extends Error {}

export interface Move {
  readonly source: Pool;
  readonly target: Pool;
  readonly accountId: string;
  /** Must equal the cell name in the target's database. */
  readonly targetCell: string;
  /** How long to wait for open sessions. After that the move is cancelled. */
  readonly drainMs: number;
  /** Called before each step, and after each batch of rows with `copying`. */
  readonly onStep: (step: MoveStep | 'copying') => Promise<void> | void;
}

/**
 * Moves an account to another cell. At most one cell serves it at any time. If the process is killed, the next call
 * continues where it stopped.
 */
export async function moveAccount(move: Move): Promise<void> {
  const sourceCell = await requireCells(move);
  for (let count = 0; count < STEPS_MAX; count += 1) {
    const next = await findNextStep(move);
    if ('refuse' in next) throw new MoveRefused(REFUSALS[next.refuse]);
    await move.onStep(next.step);
    if (next.step === 'done') return;
    await takeStep(move, next.step, sourceCell);
  }
  throw new MoveRefused('Another move of this account is under way. Wait for it, then retry.');
}

/** Returns the account to its cell. Returns false if no move is in progress or the account has already left. */
export async function cancelMove(source: Pool, accountId: string): Promise<boolean> {
  const [row] = await queryRows(source, CANCEL, [accountId]);
  return row?.cancelled === true;
}

const REFUSALS = {
  unknown: 'This cell has no such account.',
  elsewhere: 'The account is in another cell. Run the command against that cell.',
  'other-move': 'Another move of this account has begun. Finish it, or cancel it with --cancel.',
  'in-both': 'Both cells serve this account. Suspend it in both and compare them by hand.',
} as const satisfies Record<Extract<NextStep, { refuse: string }>['refuse'], string>;

/** Checks both cell names. Returns the source's. */
async function requireCells({ source, target, targetCell }: Move): Promise<string> {
  const [from, to] = [await findCell(source), await findCell(target)];
  if (to !== targetCell) {
    throw new MoveRefused(
      to === null
        ? 'The target database is not a cell.'
        : `The target database is cell ${to}, not ${targetCell}.`,
    );
  }
  if (from === null) {
    throw new MoveRefused(
      'The source has no cell name. Give it one with `svc-admin cells create`.',
    );
  }
  if (from === to) throw new MoveRefused(`The account is already in cell ${to}.`);
  return from;
}

async function findNextStep({ source, target, accountId, targetCell }: Move): Promise<NextStep> {
  // Reads the target first. It changes only after the source, so this order never finds the account in both.
  const there = await readResidence(target, accountId);
  const here = await readResidence(source, accountId);
  return nextStep({ source: here, target: there, targetCell });
}

async function takeStep(
  move: Move,
  step: Exclude<MoveStep, 'done'>,
  sourceCell: string,
): Promise<void> {
  const { source, target, accountId, targetCell } = move;
  const { moveId } = await readResidence(source, accountId);
  switch (step) {
    case 'freeze': {
      const obstacle = await findObstacle(move);
      if (obstacle !== null) throw new MoveRefused(obstacle);
      await source.query('select freeze_account($1, $2)', [accountId, targetCell]);
      return;
    }
    case 'drain':
      await drain(move, moveId);
      return;
    case 'copy': {
      const obstacle = await findObstacle(move);
      if (obstacle !== null) throw new MoveRefused(obstacle);
      const onBatch = async (): Promise<void> => move.onStep('copying');
      const copy = {
        source,
        target,
        accountId,
        moveId: moveId ?? '',
        fromCell: sourceCell,
        onBatch,
      };
      await copyAccount(copy);
      return;
    }
    case 'switch': {
      await verify(move);
      const receipt = await readReceipt(target, ARRIVAL, [accountId, moveId]);
      await source.query('select depart_account($1, $2, $3)', [accountId, moveId, receipt]);
      return;
    }
    case 'open': {
      const receipt = await readReceipt(source, DEPARTURE, [accountId, moveId]);
      await target.query('select open_account($1, $2, $3)', [accountId, moveId, receipt]);
      return;
    }
  }
}

/** A cell's signature that the account arrived or departed. The other cell checks it. */
async function readReceipt(
  db: Pool,
  query: typeof ARRIVAL,
  values: (string | null)[],
): Promise<string | null> {
  const [row] = await queryRows(db, query, values);
  return row?.receipt ?? null;
}

/** Waits until the last session has ended. Cancels the move when time is up. */
async function drain({ source, accountId, drainMs }: Move, moveId: string | null): Promise<void> {
  const deadlineMs = performance.now() + drainMs;
  for (;;) {
    const [row] = await queryRows(source, SEAL, [accountId, moveId]);
    const live = row?.live ?? 0;
    if (live === 0) return;
    if (performance.now() >= deadlineMs) {
      await cancelMove(source, accountId);
      throw new MoveRefused(
        `${live} sessions are still open, so the account stays where it is. Retry later or with a longer --wait.`,
      );
    }
    await sleep(DRAIN_POLL_MS);
  }
}

async function verify({ source, target, accountId }: Move): Promise<void> {
  const different = await compareCopies(source, target, accountId);
  const found = [
    ...different.map((part) => `${part} differs`),
    ...(await auditAccount(source, accountId)).map((violation) => `source: ${violation}`),
    ...(await auditAccount(target, accountId)).map((violation) => `target: ${violation}`),
  ];
  if (found.length === 0) return;
  throw new MoveRefused(
    `The copy differs from the source, so nothing was switched. Cancel the move with --cancel.\n${found.join('\n')}`,
  );
}
