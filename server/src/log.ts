import { pino, type DestinationStream, type Logger } from 'pino';
import type { LogLevel } from './config.ts';

export type Log = Logger;

/** A secret is taken out by the place it stands in, and by its looks wherever it stands. */
const SECRET_PATHS = [
  'authorization',
  'cookie',
  '["sec-websocket-protocol"]',
  'websocket_protocols',
  'apiKey',
  'credential',
  'databaseUrl',
];
const SECRET_PATTERN = /svc\.auth\.[\w-]+|svc_live_v1_\w+|(?<=:\/\/)[^\s"'@/]+:[^\s"'@/]+(?=@)/g;

/** Lines go out together, at the latest after a tenth of a second; what is left goes out when the process exits. */
const BUFFERED_STDOUT = { fd: 1, sync: false, minLength: 12_288, periodicFlush: 100 } as const;

/** Works on any text that leaves the process: log lines, stacks, crash output. */
export function redactSecrets(text: string): string {
  return text.replace(SECRET_PATTERN, '[redacted]');
}

export function createLog(options: { level: LogLevel; destination?: DestinationStream }): Log {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: SECRET_PATHS.flatMap((path) =>
          path.startsWith('[')
            ? [path, `*${path}`, `*.*${path}`]
            : [path, `*.${path}`, `*.*.${path}`],
        ),
        censor: '[redacted]',
      },
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: redactSecrets },
    },
    options.destination ?? pino.destination(BUFFERED_STDOUT),
  );
}

/** What nobody caught may have left anything half done: say what it was, with secrets taken out, and end. */
export function endOnUncaught(log: Log): void {
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'An error that nobody caught. This process ends.');
    process.exit(1);
  });
}
