import { PassThrough } from 'node:stream';
import { createProgram as createCli } from '../../../clients/cli/src/program.ts';
import { Terminal } from '../../../clients/cli/src/terminal.ts';
import { createProgram as createEmulator } from '../../../clients/emulator/src/program.ts';
import { createProgram as createAdmin } from '../../../core/server/src/admin/program.ts';

/** The part of a commander command that a page needs. */
interface Command {
  readonly commands: readonly Command[];
  name(): string;
  configureOutput(output: {
    writeOut: (text: string) => void;
    getOutHelpWidth: () => number;
    getOutHasColors: () => boolean;
  }): unknown;
  outputHelp(): void;
}

const COLUMNS = 100;

export function cliPage(): string {
  const terminal = new Terminal(new PassThrough(), new PassThrough(), {});
  return commandPage(
    createCli(terminal, async () => {}),
    {
      title: 'Command line: svc',
      introduction:
        '`svc` transcribes files and the microphone. [Install it](../guides/install.md). Each section is the output of `svc COMMAND --help`.',
    },
  );
}

export function adminPage(): string {
  const environment = { env: {}, devFolder: '.dev', out: () => {}, err: () => {} };
  return commandPage(
    createAdmin(async () => {}, environment),
    {
      title: 'Operator command line: svc-admin',
      introduction:
        'For operators of the service. In a clone it is `npm run admin --`. [Accounts and credit](../operations/accounts.md) shows the usual tasks. Each ' +
        'section is the output of `svc-admin COMMAND --help`.',
    },
  );
}

export function emulatorPage(): string {
  return commandPage(createEmulator(), {
    title: 'Emulator: svc-emulator',
    introduction:
      'The real server with a scripted recogniser and faults on demand. The [guide](../guides/testing-with-the-emulator.md) explains how to test with ' +
      'it. This is the output of `svc-emulator --help`.',
  });
}

function commandPage(program: Command, text: { title: string; introduction: string }): string {
  const sections = helpTexts(program, program.name()).map(([path, help]) =>
    [`## ${path}`, '', '```text', help, '```', ''].join('\n'),
  );
  return [`# ${text.title}`, '', text.introduction, '', ...sections].join('\n');
}

/** The help of a command and of everything below it, by its name on the command line. */
function helpTexts(command: Command, path: string): [string, string][] {
  let help = '';
  command.configureOutput({
    writeOut: (text) => void (help += text),
    getOutHelpWidth: () => COLUMNS,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  const own: [string, string] = [path, withoutTrailingSpace(help)];
  return [own, ...command.commands.flatMap((child) => helpTexts(child, `${path} ${child.name()}`))];
}

function withoutTrailingSpace(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trim();
}
