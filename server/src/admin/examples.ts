import type { Command } from 'commander';

/** Every help ends with lines that can be copied. */
export function examples(command: Command, lines: readonly string[]): void {
  const shown = lines.map((line) => `  $ svc-admin ${line}`).join('\n');
  command.addHelpText('after', `\nExamples:\n${shown}`);
}
