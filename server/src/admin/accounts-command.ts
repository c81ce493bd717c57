import type { Command } from 'commander';
import {
  createAccount,
  findAccount,
  listAccounts,
  setAccountStatus,
  setConcurrency,
  type Account,
} from '../accounts/accounts.ts';
import { parseCount, parseEmailArgument, parseText, parseUuid } from './arguments.ts';
import type { AdminContext, AdminEnvironment, RunCommand } from './context.ts';
import { examples } from './examples.ts';
import { addMoveCommand } from './move-command.ts';
import type { Row } from './output.ts';
import { Problem } from './problem.ts';

export function addAccountsCommand(
  program: Command,
  run: RunCommand,
  environment: AdminEnvironment,
): void {
  const accounts = program.command('accounts').description('create, look at and change accounts');
  examples(accounts, ['accounts create --name "Nairobi Radio"', 'accounts list --json']);

  const create = accounts
    .command('create')
    .description('create an account; it begins active and without credit')
    .requiredOption('--name <name>', 'a name for the account', parseText(1, 200))
    .option('--email <address>', 'contact address', parseEmailArgument)
    .action((options: { name: string; email?: string }) =>
      run(async (context) => {
        const id = await createAccount(context.db, options);
        await show(context, id);
        context.output.say(`Next: svc-admin credit grant ${id} 1h --reason "first credit"`);
      }),
    );
  examples(create, ['accounts create --name "Nairobi Radio" --email ops@radio.example']);

  const showCommand = accounts
    .command('show')
    .description('show one account and its balance')
    .argument('<account>', 'its id', parseUuid)
    .action((id: string) => run((context) => show(context, id)));
  examples(showCommand, ['accounts show 7f0c9a52-3d5e-4c0f-9d55-0d6b1f0f4f11']);

  const list = accounts
    .command('list')
    .description('list accounts, newest first')
    .option('--limit <count>', 'maximum number of rows', parseCount(1, 10_000), 50)
    .action((options: { limit: number }) =>
      run(async ({ db, output }) =>
        output.show((await listAccounts(db, options.limit)).map(present)),
      ),
    );
  examples(list, ['accounts list', 'accounts list --limit 500 --json']);

  addStatus(accounts, run, { name: 'suspend', status: 'suspended' });
  addStatus(accounts, run, { name: 'resume', status: 'active' });

  const concurrency = accounts
    .command('set-concurrency')
    .description(
      'set how many sessions it may have at once; live sessions above a lowered limit continue',
    )
    .argument('<account>', 'its id', parseUuid)
    .argument('<limit>', 'from 1 to 10000', parseCount(1, 10_000))
    .action((id: string, limit: number) =>
      run(async (context) => {
        if (!(await setConcurrency(context.db, { id, limit }))) throw unknownAccount(id);
        await show(context, id);
      }),
    );
  addMoveCommand(accounts, run, environment);
  examples(concurrency, ['accounts set-concurrency 7f0c9a52-3d5e-4c0f-9d55-0d6b1f0f4f11 5']);
}

function addStatus(
  accounts: Command,
  run: RunCommand,
  verb: { name: string; status: Account['status'] },
): void {
  const about = {
    active: 'resume a suspended account',
    suspended: 'refuse its new and reserved sessions; open streams end within a minute',
  };
  const command = accounts
    .command(verb.name)
    .description(about[verb.status])
    .argument('<account>', 'its id', parseUuid)
    .action((id: string) =>
      run(async (context) => {
        const found = await setAccountStatus(context.db, { id, status: verb.status });
        if (!found) throw unknownAccount(id);
        await show(context, id);
      }),
    );
  examples(command, [`accounts ${verb.name} 7f0c9a52-3d5e-4c0f-9d55-0d6b1f0f4f11`]);
}

async function show({ db, output }: AdminContext, id: string): Promise<void> {
  const account = await findAccount(db, id);
  if (account === null) throw unknownAccount(id);
  output.show(present(account));
}

export function unknownAccount(id: string): Problem {
  return new Problem(`There is no account ${id}. See \`svc-admin accounts list\`.`);
}

function present(account: Account): Row {
  return {
    id: account.id,
    name: account.name,
    email: account.email,
    status: account.status,
    move: account.move,
    concurrency: account.concurrencyLimit,
    available_ms: account.availableMs,
    reserved_ms: account.reservedMs,
    consumed_ms: account.consumedMs,
    granted_ms: account.grantedMs,
    created_at: account.createdAt,
  };
}
