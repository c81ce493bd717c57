import type { Command } from 'commander';
import { acceptLedgerHistory, listLedgerMarks } from '../../ledger/history-marks.ts';
import { parseReason } from '../arguments.ts';
import type { RunCommand } from '../context.ts';
import { examples } from '../examples.ts';

/** Commands for a database that was restored from a backup while processes were running. */
export function addLedgerCommand(program: Command, run: RunCommand): void {
  const ledger = program
    .command('ledger')
    .description('see which processes refuse this database, and accept a loss of history');
  examples(ledger, [
    'ledger processes',
    'ledger accept-restore --reason "restored to 14:05, ticket 81"',
  ]);

  const processes = ledger
    .command('processes')
    .description('running processes, those that refuse this database first')
    .action(() => run(async ({ db, output }) => output.show(await listLedgerMarks(db))));
  examples(processes, ['ledger processes']);

  const accept = ledger
    .command('accept-restore')
    .description(
      'let the processes that refuse this database use it; the lost history is not recovered',
    )
    .requiredOption('--reason <text>', 'why; kept permanently in the audit log', parseReason)
    .action((options: { reason: string }) =>
      run(async ({ db, output }) => {
        const processes = await acceptLedgerHistory(db, options.reason);
        output.show([{ processes }]);
        output.say(
          processes === 0
            ? 'No process refuses this database.'
            : 'These processes will use this database within a few seconds.',
        );
      }),
    );
  examples(accept, ['ledger accept-restore --reason "restored to 14:05, ticket 81"']);
}
