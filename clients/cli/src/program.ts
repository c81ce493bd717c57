import { Command, CommanderError } from 'commander';
import {
  EXIT,
  isHelpOrVersion,
  UsageError,
  type Context,
  type ExitCode,
  type RunCommand,
} from './command.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addListenCommand } from './commands/listen.ts';
import { addLoginCommand } from './commands/login.ts';
import { addModelsCommand } from './commands/models.ts';
import { addSessionCommand } from './commands/session.ts';
import { addTranscribeCommand } from './commands/transcribe.ts';
import { addUsageCommand } from './commands/usage.ts';
import { describeError, exitCodeOf } from './error-messages.ts';
import { printable, Terminal, type Output } from './terminal.ts';
import { packageVersion } from './version.ts';

const HELP_COLUMNS = 80;

const AFTER_HELP = `
Examples:
  svc login
  svc transcribe interview.mp3 --language ki
  svc listen --language luo
  svc doctor

Settings (the key is never an option, because others can read command lines):
  SVC_BASE_URL          address of the service
  SVC_API_KEY           API key; \`svc login\` stores both instead
  SVC_LANGUAGE          ki or luo, if --language is not given
  SVC_ALLOW_INSECURE=1  allow plain http to another machine, in test networks
  NO_COLOR=1            no colours

Exit status:
  0    success
  1    failed; the message says why
  2    invalid command line or settings file
  3    the API key is missing or was refused
  4    no audio credit left
  5    the service is unreachable or busy; try again later
  130  interrupted by Ctrl-C`;

/** What the program uses of its process. */
export interface ProcessParts extends Omit<Context, 'terminal'> {
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Runs one command line and returns its exit status. */
export async function runCli(argv: readonly string[], parts: ProcessParts): Promise<ExitCode> {
  const { stdout, stderr, ...rest } = parts;
  const terminal = new Terminal(stdout, stderr, rest.env);
  const context: Context = { terminal, ...rest };
  let status: ExitCode = EXIT.done;
  const program = createProgram(terminal, async (work) => {
    status = await work(context);
  });
  if (argv.length === 0) {
    program.outputHelp();
    return EXIT.usage;
  }
  try {
    await program.parseAsync(argv, { from: 'user' });
    return status;
  } catch (error) {
    if (isHelpOrVersion(error)) return EXIT.done;
    if (context.interrupted.aborted) return EXIT.interrupted;
    return report(error, argv, program, terminal);
  }
}

/** Every command, for `runCli` and for the reference. */
export function createProgram(terminal: Terminal, run: RunCommand): Command {
  const program = new Command('svc')
    .description('Speech recognition for Kikuyu and Dholuo')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      // Errors are reported once, in `report`.
      writeErr: () => {},
      getOutHelpWidth: () => HELP_COLUMNS,
    })
    .exitOverride();
  program.addHelpText('after', AFTER_HELP);
  addTranscribeCommand(program, run);
  addListenCommand(program, run);
  addModelsCommand(program, run);
  addUsageCommand(program, run);
  addSessionCommand(program, run);
  addLoginCommand(program, run);
  addDoctorCommand(program, run);
  for (const command of program.commands) {
    command.copyInheritedSettings(program).allowExcessArguments(false);
  }
  return program;
}

function report(
  error: unknown,
  [name = '']: readonly string[],
  program: Command,
  terminal: Terminal,
): ExitCode {
  const isUsage = error instanceof CommanderError || error instanceof UsageError;
  const message = error instanceof CommanderError ? usageMessage(error) : describeError(error);
  terminal.note(`${terminal.style('red', 'svc:')} ${shownMessage(message)}`);
  const isCommand = program.commands.some((command) => command.name() === name);
  if (isUsage) terminal.note(`Try: ${isCommand ? `svc ${name} --help` : 'svc --help'}`);
  return isUsage ? EXIT.usage : exitCodeOf(error);
}

/** A message may name files, and may have several lines. */
function shownMessage(message: string): string {
  return message.split('\n').map(printable).join('\n');
}

/** Commander's message as a sentence, without the values that were given: one could be an API key. */
function usageMessage({ message }: CommanderError): string {
  const sentence = message
    .replace(/^error: /, '')
    .replace(/=[^']*'/, "'")
    .replace(/(but got \d+): .*$/s, '$1')
    .replaceAll('\n', ' ');
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}${/[.)?]$/.test(sentence) ? '' : '.'}`;
}
