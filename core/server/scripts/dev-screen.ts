import { stderr, stdout } from 'node:process';
import { styleText } from 'node:util';
import { redactSecrets } from '../src/platform/observe/log.ts';

/** The terminal output of `npm run dev`. Without a terminal it has no colours. */

export function showStep(text: string): void {
  stdout.write(`${styleText('dim', `  ${text}`)}\n`);
}

export function showStart(input: {
  url: string;
  /** Null: not started. */
  compatibleUrl: string | null;
  folder: string;
  envFile: string;
  certFile: string;
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
      (input.compatibleUrl === null
        ? ''
        : row(
            'Compatible',
            `${styleText('cyan', `${input.compatibleUrl}/v1`)}  OpenAI and Deepgram`,
          )) +
      row('Docs', styleText('cyan', `${input.url}/docs`)) +
      row('Console', `${styleText('cyan', `${input.url}/app`)}  sign in as ${input.email}`) +
      row('Mailbox', styleText('cyan', `${input.url}/console-api/dev/mailbox`)) +
      row('Certificate', `${input.certFile}  self-signed`) +
      row(
        'Browser',
        `open ${styleText('cyan', input.url)} once and accept the certificate, or pages can't open streams`,
      ) +
      row('Database', input.database) +
      row('Credit', `${minutes} minutes of audio`) +
      row('API key', styleText('yellow', input.apiKey)) +
      `\n  Transcribe a file, in another terminal:\n\n` +
      `  . ${input.envFile}    # sets SVC_BASE_URL, SVC_API_KEY and the certificate\n` +
      `  npx @svc-asr/cli transcribe core/models/fixtures/kikuyu-1.wav --language ki\n` +
      `\n  Or create a session yourself:\n\n` +
      `  curl -s --cacert ${input.certFile} ${input.url}/v1/asr/sessions \\\n` +
      `    -H 'Authorization: Bearer ${input.apiKey}' \\\n` +
      `    -H 'Content-Type: application/json' \\\n` +
      `    -d '{"model":"svc-asr-kikuyu-v1"}'\n\n` +
      `${styleText('dim', `  The key works on this machine only. Ctrl-C stops everything; ${input.folder} keeps the data.`)}\n\n`,
  );
}

function row(name: string, value: string): string {
  return `  ${styleText('dim', name.padEnd(13))}${value}\n`;
}

export function showProblem(error: unknown): void {
  const { code, message } = error instanceof Error ? asErrno(error) : { message: String(error) };
  const advice =
    code === 'EADDRINUSE' ? ' Another program uses this port. Try: PORT=8081 npm run dev' : '';
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
  /** The subject of an email in the development mailbox, with the sign-in code. */
  readonly subject?: string;
}

/** Writes one short line per request, and other log lines as they are. */
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
