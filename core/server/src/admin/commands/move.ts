import { InvalidArgumentError, type Command } from 'commander';
import { CELL_ID, findCell } from '../../accounts/cell.ts';
import { cancelMove, moveAccount, MoveRefused } from '../../cells/move-account.ts';
import { createPool } from '../../platform/database/db.ts';
import { isSafeDatabaseUrl } from '../../platform/network/require-tls.ts';
import { parseDuration, parseUuid } from '../arguments.ts';
import type { AdminContext, AdminEnvironment, RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { EXIT, Problem } from '../problem.ts';

const ACCOUNT = '7f0c9a52-3d5e-4c0f-9d55-0d6b1f0f4f11';
const STATEMENT_TIMEOUT_MS = 30 * 60_000;

interface MoveOptions {
  readonly to?: string;
  readonly wait: number;
  readonly cancel?: true;
}

export function addMoveCommand(
  accounts: Command,
  run: RunCommand,
  environment: AdminEnvironment,
): void {
  const move = accounts
    .command('move')
    .description(
      'move an account to another cell, whose database is TARGET_DATABASE_URL; run it again after an interruption',
    )
    .argument('<account>', 'its id', parseUuid)
    .option('--to <cell>', 'the target cell', parseCell)
    .option('--wait <time>', 'how long to wait for open sessions', parseDuration, 60_000)
    .option('--cancel', 'cancel a move that has not switched yet')
    .action((accountId: string, options: MoveOptions) =>
      run(
        (context) =>
          options.cancel
            ? cancel(context, accountId)
            : moveTo(context, accountId, options, environment),
        'svc_mover',
      ),
    );
  examples(move, [
    `accounts move ${ACCOUNT} --to k2`,
    `accounts move ${ACCOUNT} --to k2 --wait 16m`,
    `accounts move ${ACCOUNT} --cancel`,
  ]);
}

export function parseCell(text: string): string {
  if (CELL_ID.test(text)) return text;
  throw new InvalidArgumentError('It must be two lower-case letters or digits, such as k2.');
}

async function cancel({ db, output }: AdminContext, accountId: string): Promise<void> {
  if (!(await cancelMove(db, accountId))) {
    throw new Problem('The account is not being moved, or has already left this cell.');
  }
  output.show({ account_id: accountId, state: 'cancelled' });
}

async function moveTo(
  { db, output }: AdminContext,
  accountId: string,
  options: MoveOptions,
  { env }: AdminEnvironment,
): Promise<void> {
  if (options.to === undefined) throw new Problem('Name the cell with --to.', EXIT.usage);
  const target = createPool({
    url: targetUrl(env['TARGET_DATABASE_URL']),
    role: 'svc_mover',
    applicationName: 'svc-admin move',
    maxConnections: 1,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  const began = performance.now();
  try {
    await target.query('select log_command($1)', ['accounts move']);
    await moveAccount({
      source: db,
      target,
      accountId,
      targetCell: options.to,
      drainMs: options.wait,
      onStep: (step) => {
        if (step !== 'copying') output.say(step);
      },
    });
    const tookMs = Math.round(performance.now() - began);
    const from = await findCell(db);
    output.show({ account_id: accountId, from, to: options.to, took_ms: tookMs });
    output.say(
      "Its keys keep working. Its members sign in to the console at the new cell's address.",
    );
  } catch (error) {
    if (error instanceof MoveRefused) throw new Problem(error.message);
    throw error;
  } finally {
    await target.end();
  }
}

export function targetUrl(url: string | undefined): string {
  if (url && /^postgres(?:ql)?:\/\//.test(url) && isSafeDatabaseUrl(url)) return url;
  throw new Problem(
    'Set TARGET_DATABASE_URL to the database of the other cell. Beyond this machine it must use TLS: ?sslmode=verify-full.',
    EXIT.usage,
  );
}
