import type { Command } from 'commander';
import {
  createAccount,
  listAccounts,
  renameAccount,
  searchAccounts,
} from '../../accounts/accounts.ts';
import { addAccountChanges } from './account-changes.ts';
import { changeAccount, present, showAccount } from './changed-account.ts';
import { parseCount, parseEmailArgument, parseText } from '../arguments.ts';
import type { AdminEnvironment, RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { addMoveCommand } from './move.ts';
import { ACCOUNT_ARGUMENT, accountOf } from '../short-id.ts';

export function addAccountsCommand(
  program: Command,
  run: RunCommand,
  environment: AdminEnvironment,
): void {
  const accounts = program.command('accounts').description('create, look at and change accounts');
  examples(accounts, [
    'accounts create --name "Nairobi Radio"',
    'accounts search radio',
    'accounts list --json',
  ]);

  const create = accounts
    .command('create')
    .description('create an account; it begins active and without credit')
    .requiredOption('--name <name>', 'a name for the account', parseText(1, 200))
    .option('--email <address>', 'contact address', parseEmailArgument)
    .action((options: { name: string; email?: string }) =>
      run(async (context) => {
        const id = await createAccount(context.db, options);
        await showAccount(context, id);
        context.output.say(`Next: svc-admin credit grant ${id} 1h --reason "first credit"`);
      }),
    );
  examples(create, ['accounts create --name "Nairobi Radio" --email ops@radio.example']);

  const showCommand = accounts
    .command('show')
    .description('show one account and its balance')
    .argument(...ACCOUNT_ARGUMENT)
    .action((shortId: string) =>
      run(async ({ db, output }) => output.show(present(await accountOf(db, shortId)))),
    );
  examples(showCommand, ['accounts show 7f0c9a52', 'accounts show 7f0c9a52 --json']);

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

  const search = accounts
    .command('search')
    .description('list accounts by a part of their name or email address, newest first')
    .argument('<text>', 'a part of the name or address', parseText(1, 200))
    .option('--limit <count>', 'maximum number of rows', parseCount(1, 10_000), 50)
    .action((text: string, options: { limit: number }) =>
      run(async ({ db, output }) =>
        output.show((await searchAccounts(db, { text, limit: options.limit })).map(present)),
      ),
    );
  examples(search, ['accounts search radio', 'accounts search @radio.example --json']);

  const rename = accounts
    .command('rename')
    .description('change the name of an account')
    .argument(...ACCOUNT_ARGUMENT)
    .argument('<name>', 'the new name', parseText(1, 200))
    .action((shortId: string, name: string) =>
      changeAccount(run, shortId, (db, id) => renameAccount(db, { id, name })),
    );
  examples(rename, ['accounts rename 7f0c9a52 "Radio Nairobi"']);

  addAccountChanges(accounts, run, environment);
  addMoveCommand(accounts, run, environment);
}
