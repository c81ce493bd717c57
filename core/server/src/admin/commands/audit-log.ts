import type { Command } from 'commander';
import { listAuditLog } from '../../accounts/logs/audit-log.ts';
import { parseCount } from '../arguments.ts';
import type { RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { accountOf, parseShortId } from '../short-id.ts';

export function addAuditLogCommand(program: Command, run: RunCommand): void {
  const command = program
    .command('audit-log')
    .description(
      'who changed what: sign-ins, keys, members, credit, limits, commands; newest first',
    )
    .option('--account <id>', 'only this account', parseShortId)
    .option('--limit <count>', 'maximum number of entries', parseCount(1, 100_000), 50)
    .action((options: { account?: string; limit: number }) =>
      run(async ({ db, output }) => {
        const { account, limit } = options;
        const accountId = account === undefined ? null : (await accountOf(db, account)).id;
        const { entries } = await listAuditLog(db, { accountId, limit });
        output.show(entries);
      }, 'svc_auditor'),
    );
  examples(command, ['audit-log --limit 200', 'audit-log --account 7f0c9a52 --json']);
}
