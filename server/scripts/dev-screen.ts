import { stderr, stdout } from 'node:process';
import { styleText } from 'node:util';
import { redactSecrets } from '../src/log.ts';

/** What `npm run dev` shows a person. Colours leave by themselves where the output is no terminal. */

export function showStep(text: string): void {
  stdout.write(`${styleText('dim', `  ${text}`)}\n`);
}

export function showStart(input: {
  url: string;
  consoleUrl: string;
  email: string;
  apiKey: string;
  creditMs: number;
  database: string;
  tookMs: number;
}): void {
  const minutes = (input.creditMs / 60_000).toFixed(1);
  stdout.write(
    `\n  ${styleText(['bold', 'green'], 'svc-asr')}  speech recognition for Kikuyu and Dholuo ` +
      `${styleText('dim', `ready in ${(input.tookMs / 1000).toFixed(1)} s`)}\n\n` +
      row('API', styleText('cyan', input.url)) +
      row('Reference', styleText('cyan', `${input.url}/reference`)) +
      row('Console', `${styleText('cyan', `${input.consoleUrl}/app`)}  sign in as ${input.email}`) +
      row('Mailbox', styleText('cyan', `${input.consoleUrl}/console-api/dev/mailbox`)) +
      row('Database', input.database) +
      row('Credit', `${minutes} minutes of audio`) +
      row('API key', styleText('yellow', input.apiKey)) +
      `\n  Transcribe a file, in another terminal:\n\n` +
      `  export SVC_BASE_URL=${input.url} SVC_API_KEY=${input.apiKey}\n` +
      `  npx svc transcribe models/fixtures/kikuyu-1.wav --language ki\n` +
      `\n  Or create a session yourself:\n\n` +
      `  curl -s ${input.url}/v1/asr/sessions \\\n` +
      `    -H 'Authorization: Bearer ${input.apiKey}' \\\n` +
      `    -H 'Content-Type: application/json' \\\n` +
      `    -d '{"model":"svc-asr-kikuyu-v1"}'\n\n` +
      `${styleText('dim', '  The key is for this machine only. Ctrl-C stops everything; .dev/ keeps the data.')}\n\n`,
  );
}

function row(name: string, value: string): string {
  return `  ${styleText('dim', name.padEnd(11))}${value}\n`;
}

export function showProblem(error: unknown): void {
  const { code, message } = error instanceof Error ? asErrno(error) : { message: String(error) };
  const advice =
    code === 'EADDRINUSE' ? ' Another program has this port: try PORT=8081 npm run dev.' : '';
  stderr.write(`\n  ${styleText('red', redactSecrets(message))}${advice}\n\n`);
}

function asErrno(error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  return error;
}

interface LogLine {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly method?: string;
  readonly route?: string;
  readonly status?: number;
  readonly code?: string;
  readonly ms?: number;
  /** Of a letter in the development mailbox: a sign-in code is read here. */
  readonly subject?: string;
}

/** One short line a request; anything else as the log has it. */
export const readableLog = {
  write(line: string): void {
    const entry: LogLine = JSON.parse(line);
    const time = styleText('dim', entry.time.slice(11, 19));
    if (entry.msg !== 'request') {
      const { level, msg, subject } = entry;
      const text = subject === undefined ? msg : `${msg}: ${styleText('bold', subject)}`;
      stdout.write(`  ${time} ${level === 'info' ? text : line.trimEnd()}\n`);
      return;
    }
    const { status = 0 } = entry;
    const colour = status < 400 ? 'green' : status < 500 ? 'yellow' : 'red';
    const what = `${entry.method} ${entry.route}`.padEnd(26);
    stdout.write(
      `  ${time} ${what} ${styleText(colour, String(status))} ${entry.ms} ms ${entry.code ?? ''}\n`,
    );
  },
};
