import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { SvcClient } from '@svc-asr/sdk';
import { EXIT, UsageError, type Command, type Invocation } from '../command.ts';
import { writeSettings } from '../settings.ts';

export const loginCommand: Command = {
  about: 'Store the address and the API key',
  help: `Usage: svc login

Asks for the service's address and the API key, tries them, and stores both in a
file that only you can read. The key is not shown while it is typed and never
stands on a command line. The environment variables SVC_BASE_URL and SVC_API_KEY
take precedence over the file.

Examples:
  svc login
  printf '%s\\n' https://asr.example.org "$KEY_FROM_THE_VAULT" | svc login`,
  options: {},
  async run(invocation) {
    const [baseUrl, apiKey] = await ask(invocation);
    const client = new SvcClient({
      baseUrl,
      apiKey,
      allowInsecure: invocation.env['SVC_ALLOW_INSECURE'] === '1',
    });
    await client.usage.get({ signal: invocation.interrupted });
    const path = await writeSettings(invocation.env, { baseUrl, apiKey });
    invocation.terminal.note(
      `${invocation.terminal.style('green', '✓')} The key works. Stored in ${path}.`,
    );
    return EXIT.done;
  },
};

async function ask({ terminal, interrupted }: Invocation): Promise<[string, string]> {
  // readline echoes what is typed to its output: for the key that is nowhere.
  let hidden = false;
  const output = new Writable({
    write(piece: Buffer, _, done) {
      if (!hidden) process.stderr.write(piece);
      done();
    },
  });
  const lines = createInterface({
    input: process.stdin,
    output,
    terminal: process.stdin.isTTY,
  });
  const answers = lines[Symbol.asyncIterator]();
  try {
    const next = async (prompt: string): Promise<string> => {
      process.stderr.write(prompt);
      hidden = prompt.startsWith('API key');
      const answer = await Promise.race([answers.next(), rejected(interrupted)]);
      hidden = false;
      return answer.done === true ? '' : answer.value.trim();
    };
    const baseUrl = await next('Address of the service (https://...): ');
    const apiKey = await next('API key (not shown): ');
    terminal.note('');
    if (!URL.canParse(baseUrl)) throw new UsageError('That is no address. It begins https://.');
    return [baseUrl, apiKey];
  } finally {
    lines.close();
  }
}

function rejected(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
