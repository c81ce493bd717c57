import {
  CONSOLE_LIMITS,
  ORIGIN_LENGTH_MAX,
  ORIGIN_PATTERN,
} from '@svc-asr/protocol/console/constants.ts';
import type { Command } from 'commander';
import {
  eraseAccount,
  setAccountStatus,
  setAllowedOrigins,
  setConcurrency,
  setKeyLimit,
  type Account,
} from '../../accounts/accounts.ts';
import { withAuditReason } from '../../accounts/logs/audit-log.ts';
import { changeAccount, showAccount } from './changed-account.ts';
import { parseCount, parseReason } from '../arguments.ts';
import { confirm } from '../confirm.ts';
import type { AdminEnvironment, RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { EXIT, Problem } from '../problem.ts';
import { ACCOUNT_ARGUMENT, accountOf } from '../short-id.ts';

/** Adds the commands that change what an account may do. */
export function addAccountChanges(
  accounts: Command,
  run: RunCommand,
  environment: AdminEnvironment,
): void {
  addStatus(accounts, run, { name: 'suspend', status: 'suspended' });
  addStatus(accounts, run, { name: 'resume', status: 'active' });

  const concurrency = accounts
    .command('set-concurrency')
    .description(
      'set how many sessions it may have at once; live sessions above a lowered limit continue',
    )
    .argument(...ACCOUNT_ARGUMENT)
    .argument('<limit>', 'from 1 to 10000', parseCount(1, 10_000))
    .action((shortId: string, limit: number) =>
      changeAccount(run, shortId, (db, id) => setConcurrency(db, { id, limit })),
    );
  examples(concurrency, ['accounts set-concurrency 7f0c9a52 5']);

  const keyLimit = accounts
    .command('set-key-limit')
    .description(
      'set how many live API keys it may have, not counting the successor of each; live keys above a lowered limit keep working',
    )
    .argument(...ACCOUNT_ARGUMENT)
    .argument(
      '<limit>',
      `from 1 to ${CONSOLE_LIMITS.keyLimitMax}`,
      parseCount(1, CONSOLE_LIMITS.keyLimitMax),
    )
    .action((shortId: string, limit: number) =>
      changeAccount(run, shortId, (db, id) => setKeyLimit(db, { id, limit })),
    );
  examples(keyLimit, ['accounts set-key-limit 7f0c9a52 20']);

  const origins = accounts
    .command('set-origins')
    .description('set the web origins whose pages may stream; without an origin, every page may')
    .argument(...ACCOUNT_ARGUMENT)
    .argument('[origins...]', 'such as https://radio.example')
    .action((shortId: string, given: readonly string[]) =>
      changeAccount(run, shortId, (db, id) =>
        setAllowedOrigins(db, { id, origins: validOrigins(given) }),
      ),
    );
  examples(origins, [
    'accounts set-origins 7f0c9a52 https://radio.example https://www.radio.example',
    'accounts set-origins 7f0c9a52',
  ]);
  addErase(accounts, run, environment);
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
    .argument(...ACCOUNT_ARGUMENT)
    .option(
      '--reason <text>',
      "why; kept in the audit log, which the account's owners can read",
      parseReason,
    )
    .action((shortId: string, options: { reason?: string }) =>
      changeAccount(run, shortId, (pool, id) =>
        withAuditReason(pool, options.reason ?? '', (db) =>
          setAccountStatus(db, { id, status: verb.status }),
        ),
      ),
    );
  examples(command, [
    `accounts ${verb.name} 7f0c9a52`,
    `accounts ${verb.name} 7f0c9a52 --reason "${verb.status === 'active' ? 'invoice 2027-014 paid' : 'invoice 2027-014 overdue'}"`,
  ]);
}

function addErase(accounts: Command, run: RunCommand, environment: AdminEnvironment): void {
  const erase = accounts
    .command('erase')
    .description(
      'remove the personal data of an account for good and revoke its keys; its ledger stays',
    )
    .argument(...ACCOUNT_ARGUMENT)
    .option('--yes', 'do not ask')
    .action((shortId: string, options: { yes?: true }) =>
      run(async (context) => {
        const { id, name } = await accountOf(context.db, shortId);
        const question = `This erases account ${id} (${name}) for good.`;
        await confirm(environment, { question, yes: options.yes === true });
        if (!(await eraseAccount(context.db, id))) {
          throw new Problem('A session of the account is reserved or active. End it, then retry.');
        }
        await showAccount(context, id);
      }),
    );
  examples(erase, ['accounts erase 7f0c9a52', 'accounts erase 7f0c9a52 --yes']);
}

function validOrigins(given: readonly string[]): readonly string[] {
  const pattern = new RegExp(ORIGIN_PATTERN);
  const origins = [...new Set(given)];
  const isValid = origins.every((text) => pattern.test(text) && text.length <= ORIGIN_LENGTH_MAX);
  if (isValid && origins.length <= CONSOLE_LIMITS.allowedOrigins) return origins;
  throw new Problem(
    `Give up to ${CONSOLE_LIMITS.allowedOrigins} origins without a path, such as https://radio.example.`,
    EXIT.usage,
  );
}
