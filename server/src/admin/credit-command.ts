import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { findAccount } from '../accounts/accounts.ts';
import { createLedger, type CreditResult } from '../ledger/ledger.ts';
import { listTransactions } from '../ledger/history.ts';
import { unknownAccount } from './accounts-command.ts';
import { parseCount, parseDuration, parseReason, parseUuid } from './arguments.ts';
import type { AdminContext, RunCommand } from './context.ts';
import { examples } from './examples.ts';
import { EXIT, Problem } from './problem.ts';

const ACCOUNT = '7f0c9a52-3d5e-4c0f-9d55-0d6b1f0f4f11';

interface GrantOptions {
  readonly reason: string;
  readonly id?: string;
}

interface AdjustOptions extends GrantOptions {
  readonly add?: number;
  readonly take?: number;
}

/** Credit can be added or removed, with a reason, but never set. */
export function addCreditCommand(program: Command, run: RunCommand): void {
  const credit = program.command('credit').description('grant and correct audio credit');
  examples(credit, [`credit grant ${ACCOUNT} 2h --reason "invoice 2027-014"`]);

  const grant = credit
    .command('grant')
    .description('add credit')
    .argument('<account>', 'its id', parseUuid)
    .argument('<amount>', 'audio time with its unit: 90s, 30m, 2h', parseDuration)
    .requiredOption('--reason <text>', 'why; kept permanently in the ledger', parseReason)
    .option('--id <uuid>', 'your own id of this grant; a repeated id is applied once', parseUuid)
    .action((accountId: string, ms: number, options: GrantOptions) =>
      run((context) => post(context, 'grant', { accountId, ms, ...options })),
    );
  examples(grant, [
    `credit grant ${ACCOUNT} 2h --reason "invoice 2027-014"`,
    `credit grant ${ACCOUNT} 90s --reason "apology" --id 0b9c1c56-8f7e-4c4b-b1d7-3f1c8f6b2a10 --json`,
  ]);

  const adjust = credit
    .command('adjust')
    .description('add or remove credit, never below zero')
    .argument('<account>', 'its id', parseUuid)
    .option('--add <amount>', 'audio time with its unit: 90s, 30m, 2h', parseDuration)
    .option('--take <amount>', 'audio time with its unit: 90s, 30m, 2h', parseDuration)
    .requiredOption('--reason <text>', 'why; kept permanently in the ledger', parseReason)
    .option(
      '--id <uuid>',
      'your own id of this adjustment; a repeated id is applied once',
      parseUuid,
    )
    .action((accountId: string, options: AdjustOptions) =>
      run(async (context) => {
        await post(context, 'adjust', { accountId, ms: adjustmentOf(options), ...options });
      }),
    );
  examples(adjust, [
    `credit adjust ${ACCOUNT} --take 30m --reason "granted twice"`,
    `credit adjust ${ACCOUNT} --add 10s --reason "bad transcript, ticket 812"`,
  ]);

  const history = credit
    .command('history')
    .description('the transactions of an account, newest first')
    .argument('<account>', 'its id', parseUuid)
    .option('--limit <count>', 'maximum number of transactions', parseCount(1, 10_000), 50)
    .action((accountId: string, options: { limit: number }) =>
      run(async ({ db, output }) => {
        if ((await findAccount(db, accountId)) === null) throw unknownAccount(accountId);
        output.show(await listTransactions(db, { accountId, limit: options.limit }));
      }),
    );
  examples(history, [`credit history ${ACCOUNT} --limit 200`]);
}

function adjustmentOf({ add, take }: AdjustOptions): number {
  if (add !== undefined && take === undefined) return add;
  if (take !== undefined && add === undefined) return -take;
  throw new Problem('Use either --add or --take with an amount, such as --take 30m.', EXIT.usage);
}

async function post(
  context: AdminContext,
  kind: 'grant' | 'adjust',
  input: GrantOptions & { readonly accountId: string; readonly ms: number },
): Promise<void> {
  const { accountId, ms, reason, id = randomUUID() } = input;
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
      throw unknownAccount(accountId);
    case 'request_conflict':
      throw new Problem(`The id ${id} was used for another amount or reason. Use a new one.`);
    case 'insufficient_credits':
      throw new Problem(
        `The account has only ${result.availableMs} ms available. ` +
          'Credit reserved by live sessions is returned when they end.',
      );
  }
}
