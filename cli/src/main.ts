#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { EXIT, UsageError, type Command, type ExitCode } from './command.ts';
import { doctorCommand } from './commands/doctor.ts';
import { listenCommand } from './commands/listen.ts';
import { loginCommand } from './commands/login.ts';
import { modelsCommand } from './commands/models.ts';
import { sessionCommand } from './commands/session.ts';
import { transcribeCommand } from './commands/transcribe.ts';
import { usageCommand } from './commands/usage.ts';
import { exitCodeOf, explain } from './explain.ts';
import { Terminal } from './terminal.ts';

const COMMANDS: Readonly<Record<string, Command>> = {
  transcribe: transcribeCommand,
  listen: listenCommand,
  models: modelsCommand,
  usage: usageCommand,
  session: sessionCommand,
  login: loginCommand,
  doctor: doctorCommand,
};

const HELP = `svc: speech recognition for Kikuyu and Dholuo

Usage: svc COMMAND [options]

Commands:
${Object.entries(COMMANDS)
  .map(([name, { about }]) => `  ${name.padEnd(12)} ${about}`)
  .join('\n')}

\`svc COMMAND --help\` tells more.

Examples:
  svc login
  svc transcribe interview.mp3 --language ki
  svc listen --language luo
  svc doctor

Settings (the key is never an option: command lines can be read by others):
  SVC_BASE_URL          where the service is
  SVC_API_KEY           the API key; \`svc login\` can store both instead
  SVC_LANGUAGE          ki or luo, when --language is not given
  SVC_ALLOW_INSECURE=1  plain http to another machine, in closed test networks
  NO_COLOR=1            no colours

Exit status:
  0    done
  1    something failed; the message says what
  2    the command was not understood
  3    the key is missing or was refused
  4    there is no audio credit left
  5    the service cannot be reached or is busy; try again later
  130  interrupted by Ctrl-C`;

async function main(argv: readonly string[]): Promise<ExitCode> {
  const terminal = new Terminal(process.stdout, process.stderr, process.env);
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    const command = COMMANDS[rest[0] ?? ''];
    terminal.print(command?.help ?? HELP);
    return name === undefined ? EXIT.usage : EXIT.done;
  }
  const interrupted = interruptedSignal();
  try {
    const command = COMMANDS[name];
    if (command === undefined)
      throw new UsageError(`There is no command ${name}.${suggestion(name)}`);
    const { positionals, values } = parse(name, command, rest);
    if (values['help'] === true) {
      terminal.print(command.help);
      return EXIT.done;
    }
    const options: Record<string, string | boolean | undefined> = {};
    for (const [option, value] of Object.entries(values)) {
      if (!Array.isArray(value)) options[option] = value;
    }
    return await command.run({
      words: positionals,
      options,
      terminal,
      env: process.env,
      interrupted,
    });
  } catch (error) {
    if (interrupted.aborted) return EXIT.interrupted;
    terminal.note(`${terminal.style('red', 'svc:')} ${explain(error)}`);
    const hint = COMMANDS[name] === undefined ? 'svc --help' : `svc ${name} --help`;
    if (error instanceof UsageError) terminal.note(`Try: ${hint}`);
    return exitCodeOf(error);
  }
}

/** For a slip of the fingers: the command that begins or ends alike. */
function suggestion(name: string): string {
  if (name.startsWith('-')) return ' Options come after the command.';
  const near = Object.keys(COMMANDS).find(
    (command) => command.startsWith(name.slice(0, 2)) || command.endsWith(name.slice(-4)),
  );
  return near === undefined ? '' : ` Did you mean ${near}?`;
}

function parse(name: string, command: Command, args: readonly string[]) {
  const parsed = parseOptions(command, args);
  if (parsed.positionals.length === 0 || command.takesFiles === true) return parsed;
  // Not repeated: it could be a key.
  throw new UsageError(`\`svc ${name}\` takes options only, and there is a word too many.`);
}

function parseOptions(command: Command, args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
  } catch (error) {
    // Node's own advice after the first sentence is about positional arguments, which helps nobody here.
    const [sentence] = (error instanceof Error ? error.message : '').split('. ');
    throw new UsageError(`${sentence}.`);
  }
}

/** The first Ctrl-C asks, the second insists. */
function interruptedSignal(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => {
    controller.abort();
    process.once('SIGINT', () => process.exit(EXIT.interrupted));
  });
  return controller.signal;
}

// A reader that has seen enough, such as head, closes the pipe: that is no failure.
process.stdout.on('error', () => process.exit(EXIT.done));
process.exitCode = await main(process.argv.slice(2));
