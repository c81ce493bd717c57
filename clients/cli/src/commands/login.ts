import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { SvcClient } from '@svc-asr/sdk';
import type { Command } from 'commander';
import { EXIT, UsageError, type Context, type ExitCode, type RunCommand } from '../command.ts';
import { writeSettings } from '../settings.ts';

export function addLoginCommand(program: Command, run: RunCommand): void {
  program
    .command('login')
    .summary('Store the address and the API key')
    .description(
      "Asks for the service's address and the API key, tests them, and stores both in a file that only you can " +
        'read. The key is not shown while you type it. SVC_BASE_URL and SVC_API_KEY take precedence over the file.',
    )
    .addHelpText(
      'after',
      `
Examples:
  svc login
  printf '%s\\n' https://asr.example.org "$KEY_FROM_THE_VAULT" | svc login`,
    )
    .action(() => run(login));
}

async function login(context: Context): Promise<ExitCode> {
  const { env, terminal, interrupted } = context;
  const [baseUrl, apiKey] = await ask(context);
  const client = new SvcClient({
    baseUrl,
    apiKey,
    allowInsecure: env['SVC_ALLOW_INSECURE'] === '1',
  });
  await client.usage.get({ signal: interrupted });
  const path = await writeSettings(env, { baseUrl, apiKey });
  terminal.note(`${terminal.style('green', '✓')} The key works. Stored in ${path}.`);
  return EXIT.done;
}

async function ask({ stdin, terminal, interrupted }: Context): Promise<[string, string]> {
  // readline echoes typed text to its output. While the key is typed, the output drops it.
  let hidden = false;
  const output = new Writable({
    write(piece: Buffer, _, done) {
      if (!hidden) terminal.prompt(piece);
      done();
    },
  });
  const lines = createInterface({ input: stdin, output, terminal: stdin.isTTY === true });
  const answers = lines[Symbol.asyncIterator]();
  try {
    const next = async (prompt: string): Promise<string> => {
      terminal.prompt(prompt);
      hidden = prompt.startsWith('API key');
      const answer = await Promise.race([answers.next(), rejected(interrupted)]);
      hidden = false;
      return answer.done === true ? '' : answer.value.trim();
    };
    const baseUrl = await next('Address of the service (https://...): ');
    const apiKey = await next('API key (not shown): ');
    terminal.note('');
    if (!URL.canParse(baseUrl)) throw new UsageError('Invalid address. It starts with https://.');
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
