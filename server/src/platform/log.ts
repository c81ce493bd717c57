import { escapeControls } from './escape-controls.ts';
import { pino, type DestinationStream, type Logger } from 'pino';

export type Log = Logger;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Secrets are redacted by field path and by pattern. */
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

/** Lines are written in batches, at the latest after 100 ms, and when the process exits. */
const BUFFERED_STDOUT = { fd: 1, sync: false, minLength: 12_288, periodicFlush: 100 } as const;

/** Redacts any output of the process: log lines, stack traces, crash output. */
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
      hooks: { streamWrite: (line) => escapeControls(redactSecrets(line)) },
    },
    options.destination ?? pino.destination(BUFFERED_STDOUT),
  );
}

/** Logs an uncaught error with secrets redacted, then exits, because the process may be in an undefined state. */
export function endOnUncaught(log: Log): void {
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'Uncaught error. The process exits.');
    process.exit(1);
  });
}
