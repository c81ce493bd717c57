import { EXIT, flag, text, UsageError, type Command } from '../command.ts';
import { chosenModel } from '../languages.ts';
import { createSession } from '../sessions.ts';

export const sessionCommand: Command = {
  about: 'Create a session and print it for other tools',
  help: `Usage: svc session --language ki|luo [options]

Reserves audio time and prints the session as JSON. It opens one stream within
60 seconds and is a secret, so on a terminal the credential is hidden; a pipe or
a file gets it whole.

Options:
  -l, --language LANG      ki (Kikuyu) or luo (Dholuo); or set SVC_LANGUAGE
  -s, --max-seconds N      how much audio to reserve, 1 to 300 (default 60)
      --show-secret        show the credential on a terminal too

Examples:
  svc session -l ki > session.json
  svc session -l luo -s 300 | my-recorder`,
  options: {
    language: { type: 'string', short: 'l' },
    'max-seconds': { type: 'string', short: 's' },
    'show-secret': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  async run(invocation) {
    const { terminal } = invocation;
    const model = chosenModel(invocation);
    const maxAudioSeconds = Number(text(invocation, 'max-seconds') ?? 60);
    if (!Number.isInteger(maxAudioSeconds) || maxAudioSeconds < 1 || maxAudioSeconds > 300) {
      throw new UsageError('--max-seconds is a whole number from 1 to 300.');
    }
    const session = await createSession(
      invocation,
      { model, maxAudioSeconds },
      invocation.interrupted,
    );
    const hidden = terminal.isOutTerminal && !flag(invocation, 'show-secret');
    const [protocol, credential] = session.websocket_protocols;
    const shown = hidden ? `${credential.slice(0, 9)}(hidden)` : credential;
    terminal.json({ ...session, websocket_protocols: [protocol, shown] });
    if (hidden)
      terminal.note('The credential is hidden here. Pipe the output, or add --show-secret.');
    return EXIT.done;
  },
};
