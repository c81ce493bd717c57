import type { Command } from 'commander';
import { EXIT, type RunCommand } from '../command.ts';
import { openClient } from '../settings.ts';

export function addModelsCommand(program: Command, run: RunCommand): void {
  program
    .command('models')
    .summary('List the models')
    .description('Lists the available models. Needs no key.')
    .option('--json', 'print the models as JSON')
    .addHelpText(
      'after',
      `
Examples:
  svc models
  svc models --json | jq -r '.[].id'`,
    )
    .action((options: { json?: true }) =>
      run(async ({ env, terminal, interrupted }) => {
        const client = await openClient(env, { needsKey: false });
        const models = await client.models.list({ signal: interrupted });
        if (options.json === true) {
          terminal.json(models);
          return EXIT.done;
        }
        for (const model of models) {
          const language = `${model.language} (${model.language_code})`;
          const limit = `up to ${model.max_audio_seconds} s per session`;
          terminal.print(`${model.id.padEnd(20)}  ${language.padEnd(14)}  ${limit}`);
        }
        return EXIT.done;
      }),
    );
}
