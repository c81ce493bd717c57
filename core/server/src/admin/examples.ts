import type { Command } from 'commander';

/** Appends copyable examples to a command's help. */
export function examples(command: Command, lines: readonly string[]): void {
  const shown = lines.map((line) => `  $ svc-admin ${line}`).join('\n');
  command.addHelpText('after', `\nExamples:\n${shown}`);
}
