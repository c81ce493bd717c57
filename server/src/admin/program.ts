import { Command, CommanderError } from 'commander';
import { createPool, isDatabaseAway } from '../db.ts';
import { addAccountsCommand } from './accounts-command.ts';
import { addAuditCommand } from './audit-command.ts';
import type { AdminEnvironment, RunCommand } from './context.ts';
import { addCreditCommand } from './credit-command.ts';
import { examples } from './examples.ts';
import { addKeysCommand } from './keys-command.ts';
import { addMigrateCommand } from './migrate-command.ts';
import { createOutput } from './output.ts';
import { EXIT, Problem } from './problem.ts';
import { addNodesCommand, addSessionsCommand } from './sessions-command.ts';
import { readSettings } from './settings.ts';
import { addOperatorsCommand, addWaitlistCommand } from './waitlist-command.ts';

/** An audit of a large ledger takes its time; nothing else here does. */
const STATEMENT_TIMEOUT_MS = 30 * 60_000;

interface GlobalOptions {
  readonly json?: true;
  readonly actor?: string;
}

/** One command line, from its words to its exit status. */
export async function runAdmin(
  words: readonly string[],
  environment: AdminEnvironment,
): Promise<number> {
  let status: number = EXIT.done;
  const program = new Command('svc-admin');
  const run: RunCommand = async (work, role = 'svc_operator') => {
    const { json, actor } = program.opts<GlobalOptions>();
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
      const { databaseUrl, apiKeyPepper } = settings;
      const who = actor ?? environment.userName;
      const context = { db, databaseUrl, output, apiKeyPepper, actor: who };
      status = (await work(context)) ?? EXIT.done;
    } finally {
      await db.end();
    }
  };
  build(program, run, environment);
  try {
    await program.parseAsync(words, { from: 'user' });
    return status;
  } catch (error) {
    return explain(error, environment);
  }
}

function build(program: Command, run: RunCommand, environment: AdminEnvironment): void {
  program
    .description(
      'The operator of the service: accounts, credit, keys, sessions, nodes, audit, migrations.',
    )
    .option('--json', 'one JSON document for scripts, in place of a table')
    .option('--actor <name>', 'who does this, for the ledger (default: your user name)')
    .configureOutput({ writeOut: environment.out, writeErr: environment.err })
    .showHelpAfterError('(add --help for how it is used)')
    .exitOverride();
  program.addHelpText(
    'after',
    `
Settings:
  DATABASE_URL    the database of the service; without it, that of a running \`npm run dev\`
  API_KEY_PEPPER  the same as in the service; needed to make keys

Exit status: 0 done, 1 refused or not found, 2 wrong usage or settings, 3 database away.`,
  );
  examples(program, [
    'accounts create --name "Nairobi Radio"',
    'credit grant 7f0c9a52-3d5e-4c0f-9d55-0d6b1f0f4f11 2h --reason "invoice 2027-014"',
    'keys create 7f0c9a52-3d5e-4c0f-9d55-0d6b1f0f4f11 --name production',
    'audit',
    'migrate',
  ]);
  addAccountsCommand(program, run);
  addCreditCommand(program, run);
  addKeysCommand(program, run);
  addSessionsCommand(program, run);
  addNodesCommand(program, run);
  addWaitlistCommand(program, run);
  addOperatorsCommand(program, run);
  addAuditCommand(program, run);
  addMigrateCommand(program, run);
  inherit(program);
}

/** Options of the program may stand anywhere, and whatever is wrong is thrown, not acted on. */
function inherit(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    child.showHelpAfterError('(add --help for how it is used)');
    inherit(child);
  }
}

function explain(error: unknown, environment: AdminEnvironment): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (error instanceof Problem) {
    environment.err(`${error.message}\n`);
    return error.exitCode;
  }
  if (isDatabaseAway(error)) {
    environment.err('The database cannot be reached. Check DATABASE_URL, or try again later.\n');
    return EXIT.away;
  }
  const message = error instanceof Error ? error.message : 'An unknown fault.';
  environment.err(
    `${message}\nIf the schema is older than this command, run \`svc-admin migrate\` first; if a role is refused,\n` +
      'grant svc_operator to the user of DATABASE_URL.\n',
  );
  return EXIT.refused;
}
