import type { Command } from 'commander';
import { migrate } from '../../platform/database/migrate.ts';
import type { RunCommand } from '../context.ts';
import { examples } from '../examples.ts';

/** The only command that needs the owner of the schema. The others use the operator's role. */
export function addMigrateCommand(program: Command, run: RunCommand): void {
  const command = program
    .command('migrate')
    .description('migrate the database to this version, as the owner of the schema; safe to repeat')
    .action(() =>
      run(async ({ databaseUrl, output }) => {
        let steps = 0;
        const log = (step: string): void => {
          steps += 1;
          output.say(step);
        };
        await migrate({ url: databaseUrl, log });
        output.show({ steps });
        output.say('The database is at this version.');
      }),
    );
  examples(command, ['migrate', 'migrate --json']);
}
