import { EXIT, flag, type Command } from '../command.ts';
import { openClient } from '../settings.ts';

export const modelsCommand: Command = {
  about: 'List the models',
  help: `Usage: svc models [--json]

Lists the models that the service offers. Needs no key.

Examples:
  svc models
  svc models --json | jq -r '.[].id'`,
  options: { json: { type: 'boolean' } },
  async run(invocation) {
    const { terminal } = invocation;
    const client = await openClient(invocation.env, { needsKey: false });
    const models = await client.models.list({ signal: invocation.interrupted });
    if (flag(invocation, 'json')) {
      terminal.json(models);
      return EXIT.done;
    }
    for (const model of models) {
      const language = `${model.language} (${model.language_code})`;
      const session = `up to ${model.max_audio_seconds} s a session`;
      terminal.print(`${model.id.padEnd(20)}  ${language.padEnd(14)}  ${session}`);
    }
    return EXIT.done;
  },
};
