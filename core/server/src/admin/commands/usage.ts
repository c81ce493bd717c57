import { InvalidArgumentError, type Command } from 'commander';
import { usageOfMonth } from '../../ledger/reports/history.ts';
import type { RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { accountOf, parseShortId } from '../short-id.ts';

interface UsageOptions {
  readonly month: string;
  readonly account?: string;
  readonly csv?: true;
}

export function addUsageCommand(program: Command, run: RunCommand): void {
  const usage = program
    .command('usage')
    .description('audio charged in a month (UTC), by account and model')
    .option('--month <month>', 'such as 2027-01', parseMonth, new Date().toISOString().slice(0, 7))
    .option('--account <id>', 'only this account', parseShortId)
    .option('--csv', 'print CSV, for a spreadsheet')
    .action((options: UsageOptions) =>
      run(async ({ db, output }) => {
        const { month, account, csv } = options;
        const accountId = account === undefined ? null : (await accountOf(db, account)).id;
        const rows = await usageOfMonth(db, { month, accountId });
        if (csv) output.csv(rows);
        else output.show(rows);
      }, 'svc_auditor'),
    );
  examples(usage, ['usage --month 2027-01 --csv > 2027-01.csv', 'usage --account 7f0c9a52']);
}

function parseMonth(text: string): string {
  if (/^\d{4}-(?:0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a month such as 2027-01.');
}
