import { Command, CommanderError } from 'commander';
import {
  createPool,
  DatabaseError,
  isDatabaseUnavailable,
  type Pool,
} from '../platform/database/db.ts';
import { queryRows, statement, t } from '../platform/database/statement.ts';
import { escapeControls } from '../platform/observe/escape-controls.ts';
import { addCellsCommand } from './commands/cells.ts';
import { addAccountsCommand } from './commands/accounts.ts';
import { addAuditLogCommand } from './commands/audit-log.ts';
import { addAuditCommand } from './commands/audit.ts';
import type { AdminEnvironment, RunCommand } from './context.ts';
import { addCreditCommand } from './commands/credit.ts';
import { addEnginesCommand } from './commands/engines.ts';
import { examples } from './examples.ts';
import { addLedgerCommand } from './commands/ledger.ts';
import { addKeysCommand } from './commands/keys.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addOperatorsCommand, addPasskeysCommand } from './commands/operators.ts';
import { createOutput } from './output.ts';
import { EXIT, Problem } from './problem.ts';
import { addNodesCommand, addSessionsCommand } from './commands/sessions.ts';
import { addStatusCommand } from './commands/status.ts';
import { readSettings } from './settings.ts';
import { addUsageCommand } from './commands/usage.ts';
import { addWaitlistCommand } from './commands/waitlist.ts';

/** Only the audit of a large ledger takes this long. */
const STATEMENT_TIMEOUT_MS = 30 * 60_000;

interface GlobalOptions {
  readonly json?: true;
}

/** Runs one command line and returns its exit status. */
export async function runAdmin(
  words: readonly string[],
  environment: AdminEnvironment,
): Promise<number> {
  let status: number = EXIT.done;
  const run: RunCommand = async (work, role = 'svc_operator') => {
    const { json } = program.opts<GlobalOptions>();
    const settings = readSettings(environment.env, environment.devFolder);
    const output = createOutput(environment, json === true);
    if (settings.note !== null) output.say(settings.note);
    const db = createPool({
      url: settings.databaseUrl,
      role,
      applicationName: 'svc-admin',
      maxConnections: 1,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
    try {
      const { databaseUrl, peppers } = settings;
      // These create the audit log itself, so they are not logged.
      const actor = ['migrate', 'cells create'].includes(commandName)
        ? ''
        : await logCommand(db, commandName);
      const context = { db, databaseUrl, output, peppers, actor };
      status = (await work(context)) ?? EXIT.done;
    } finally {
      await db.end();
    }
  };
  let commandName = '';
  const program = createProgram(run, environment);
  program.hook('preAction', (_program, command) => {
    commandName = nameOf(command);
  });
  try {
    await program.parseAsync(words, { from: 'user' });
    return status;
  } catch (error) {
    return explain(error, { ...environment, err: (text) => environment.err(escapeControls(text)) });
  }
}

const LOG_COMMAND = statement('select session_user as login from log_command($1)', {
  login: t.text(),
});

/** Records the command in the audit log and returns the database login as the actor. */
async function logCommand(db: Pool, name: string): Promise<string> {
  const [row] = await queryRows(db, LOG_COMMAND, [name]);
  return row?.login ?? '';
}

/** The words that name a command, such as "credit grant". Arguments may be personal data. */
function nameOf(command: Command): string {
  const words: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) words.unshift(at.name());
  return words.join(' ');
}

/** Every command, for `runAdmin` and for the reference. */
export function createProgram(run: RunCommand, environment: AdminEnvironment): Command {
  const program = new Command('svc-admin')
    .description('Operate the service: accounts, credit, keys, sessions, nodes, audit, migrations.')
    .option('--json', 'one JSON document for scripts, in place of a table')
    .configureOutput({
      writeOut: environment.out,
      // Messages repeat the arguments, which may contain control characters.
      writeErr: (text) => environment.err(escapeControls(text)),
    })
    .showHelpAfterError('(add --help for usage)')
    .exitOverride();
  program.addHelpText(
    'after',
    `
Settings:
  DATABASE_URL    the database of the service; default: that of a running \`npm run dev\`
  API_KEY_PEPPER  the same as in the service; needed to create keys
  TARGET_DATABASE_URL  the database of the other cell, for accounts move and cells link

Exit status: 0 done, 1 refused or not found, 2 wrong usage or settings, 3 database unreachable.`,
  );
  examples(program, [
    'accounts create --name "Nairobi Radio"',
    'credit grant 7f0c9a52 2h --reason "invoice 2027-014"',
    'keys create 7f0c9a52 --name production',
    'audit',
    'migrate',
  ]);
  addAccountsCommand(program, run, environment);
  addCreditCommand(program, run, environment);
  addUsageCommand(program, run);
  addKeysCommand(program, run);
  addSessionsCommand(program, run);
  addNodesCommand(program, run);
  addEnginesCommand(program, environment);
  addStatusCommand(program, run);
  addWaitlistCommand(program, run, environment);
  addOperatorsCommand(program, run);
  addPasskeysCommand(program, run);
  addAuditCommand(program, run);
  addAuditLogCommand(program, run);
  addLedgerCommand(program, run);
  addMigrateCommand(program, run);
  addCellsCommand(program, run, environment);
  inherit(program);
  return program;
}

/** Allows the program's options after a command too, and makes commands throw errors instead of exiting. */
function inherit(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    child.showHelpAfterError('(add --help for usage)');
    inherit(child);
  }
}

function explain(error: unknown, environment: AdminEnvironment): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (error instanceof Problem) {
    environment.err(`${error.message}\n`);
    return error.exitCode;
  }
  if (isDatabaseUnavailable(error)) {
    environment.err('The database cannot be reached. Check DATABASE_URL, or try again later.\n');
    return EXIT.unavailable;
  }
  environment.err(`${error instanceof Error ? error.message : 'Unknown error.'}\n`);
  if (error instanceof DatabaseError) {
    environment.err(
      'If the schema is older than this command, run `svc-admin migrate` first; if a role is refused,\n' +
        'grant svc_operator to the user of DATABASE_URL.\n',
    );
  }
  return EXIT.refused;
}
