import type { Command } from 'commander';
import { EXIT, wholeNumber, type RunCommand } from '../command.ts';
import { createSession } from '../create-session.ts';
import { languageOption, modelFor } from '../languages.ts';

interface SessionOptions {
  readonly language?: string;
  readonly maxSeconds: number;
  readonly showSecret?: true;
}

export function addSessionCommand(program: Command, run: RunCommand): void {
  program
    .command('session')
    .summary('Create a session for other tools')
    .description(
      'Reserves audio credit and prints the session as JSON. The session opens one stream within 60 seconds and ' +
        'is a secret: on a terminal the credential is hidden, a pipe or a file gets all of it.',
    )
    .addOption(languageOption())
    .option(
      '-s, --max-seconds <n>',
      'seconds of audio to reserve, 1 to 300',
      wholeNumber(1, 300),
      60,
    )
    .option('--show-secret', 'show the credential on a terminal too')
    .option('--json', 'accepted for consistency: the output is always JSON')
    .addHelpText(
      'after',
      `
Examples:
  svc session -l ki > session.json
  svc session -l luo -s 300 | my-recorder`,
    )
    .action((options: SessionOptions) =>
      run(async (context) => {
        const { terminal } = context;
        const params = {
          model: modelFor(options.language, context),
          maxAudioSeconds: options.maxSeconds,
        };
        const session = await createSession(context, params, context.interrupted);
        const hidden = terminal.isOutTerminal && options.showSecret !== true;
        const [protocol, credential] = session.websocket_protocols;
        const shown = hidden ? `${credential.slice(0, 9)}(hidden)` : credential;
        terminal.json({ ...session, websocket_protocols: [protocol, shown] });
        if (hidden) {
          terminal.note('The credential is hidden. Pipe the output, or add --show-secret.');
        }
        return EXIT.done;
      }),
    );
}
