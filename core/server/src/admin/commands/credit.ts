import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { createLedger, type CreditResult } from '../../ledger/ledger.ts';
import { listTransactions } from '../../ledger/reports/history.ts';
import { parseCount, parseDuration, parseReason, parseUuid } from '../arguments.ts';
import type { AdminContext, AdminEnvironment, RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { EXIT, Problem } from '../problem.ts';
import { ACCOUNT_ARGUMENT, accountOf } from '../short-id.ts';
import { confirmGrant } from './confirm-grant.ts';
import { addCreditRequests } from './credit-requests.ts';

const ACCOUNT = '7f0c9a52';

interface GrantOptions {
  readonly reason: string;
  readonly id?: string;
  readonly yes?: true;
}

interface AdjustOptions extends GrantOptions {
  readonly add?: number;
  readonly take?: number;
}

/** Credit can be added or removed, with a reason, but never set. */
export function addCreditCommand(
  program: Command,
  run: RunCommand,
  environment: AdminEnvironment,
): void {
  const credit = program
    .command('credit')
    .description('grant and correct audio credit, and answer requests for it');
  examples(credit, [`credit grant ${ACCOUNT} 2h --reason "invoice 2027-014"`]);

  const grant = credit
    .command('grant')
    .description('add credit')
    .argument(...ACCOUNT_ARGUMENT)
    .argument('<amount>', 'audio time with its unit: 90s, 30m, 2h', parseDuration)
    .requiredOption('--reason <text>', 'why; kept permanently in the ledger', parseReason)
    .option('--id <uuid>', 'your own id of this grant; a repeated id is applied once', parseUuid)
    .option('--yes', 'do not ask about more than 1,000 hours')
    .action((shortId: string, ms: number, options: GrantOptions) =>
      run((context) => post(context, environment, { kind: 'grant', shortId, ms, ...options })),
    );
  examples(grant, [
    `credit grant ${ACCOUNT} 2h --reason "invoice 2027-014"`,
    `credit grant ${ACCOUNT} 90s --reason "apology" --id 0b9c1c56-8f7e-4c4b-b1d7-3f1c8f6b2a10 --json`,
  ]);

  const adjust = credit
    .command('adjust')
    .description('add or remove credit, never below zero')
    .argument(...ACCOUNT_ARGUMENT)
    .option('--add <amount>', 'audio time with its unit: 90s, 30m, 2h', parseDuration)
    .option('--take <amount>', 'audio time with its unit: 90s, 30m, 2h', parseDuration)
    .requiredOption('--reason <text>', 'why; kept permanently in the ledger', parseReason)
    .option(
      '--id <uuid>',
      'your own id of this adjustment; a repeated id is applied once',
      parseUuid,
    )
    .option('--yes', 'do not ask about more than 1,000 hours')
    .action((shortId: string, options: AdjustOptions) =>
      run(async (context) => {
        const ms = adjustmentOf(options);
        await post(context, environment, { kind: 'adjust', shortId, ms, ...options });
      }),
    );
  examples(adjust, [
    `credit adjust ${ACCOUNT} --take 30m --reason "granted twice"`,
    `credit adjust ${ACCOUNT} --add 10s --reason "bad transcript, ticket 812"`,
  ]);

  const history = credit
    .command('history')
    .description('the transactions of an account, newest first')
    .argument(...ACCOUNT_ARGUMENT)
    .option('--limit <count>', 'maximum number of transactions', parseCount(1, 10_000), 50)
    .action((shortId: string, options: { limit: number }) =>
      run(async ({ db, output }) => {
        const { id: accountId } = await accountOf(db, shortId);
        output.show(await listTransactions(db, { accountId, limit: options.limit }));
      }),
    );
  examples(history, [`credit history ${ACCOUNT} --limit 200`]);
  addCreditRequests(credit, run, environment);
}

function adjustmentOf({ add, take }: AdjustOptions): number {
  if (add !== undefined && take === undefined) return add;
  if (take !== undefined && add === undefined) return -take;
  throw new Problem('Use either --add or --take with an amount, such as --take 30m.', EXIT.usage);
}

interface Posting extends GrantOptions {
  readonly kind: 'grant' | 'adjust';
  readonly shortId: string;
  readonly ms: number;
}

async function post(
  context: AdminContext,
  environment: AdminEnvironment,
  posting: Posting,
): Promise<void> {
  const { kind, shortId, ms, reason, id = randomUUID(), yes } = posting;
  const { id: accountId, name } = await accountOf(context.db, shortId);
  await confirmGrant(environment, { ms, account: `account ${accountId} (${name})`, yes });
  const ledger = createLedger(context.db);
  const result = await ledger[kind]({ accountId, ms, reason, actor: context.actor, id });
  report(context, { accountId, ms, id, result });
}

function report(
  { output }: AdminContext,
  input: { accountId: string; ms: number; id: string; result: CreditResult },
): void {
  const { accountId, ms, id, result } = input;
  switch (result.outcome) {
    case 'posted':
      output.show({
        account_id: accountId,
        amount_ms: ms,
        available_ms: result.availableMs,
        transaction: result.seq,
        id,
        replayed: result.replayed,
      });
      if (result.replayed) output.say('This id was posted before. Nothing was posted again.');
      return;
    case 'unknown_account':
      throw new Problem(`There is no account ${accountId}.`);
    case 'request_conflict':
      throw new Problem(`The id ${id} was used for another amount or reason. Use a new one.`);
    case 'insufficient_credits':
      throw new Problem(
        `The account has only ${result.availableMs} ms available. ` +
          'Credit reserved by live sessions is returned when they end.',
      );
  }
}
