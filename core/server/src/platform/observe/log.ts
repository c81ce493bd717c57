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
/** A user's name may be empty, as in the address of a Redis. It has no colon, so that the search takes linear time. */
const SECRET_PATTERN = /svc\.auth\.[\w-]+|svc_live_v1_\w+|(?<=:\/\/)[^\s"'@/:]*:[^\s"'@/]+(?=@)/g;

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
      serializers: { err: describeError },
      hooks: { streamWrite: (line) => escapeControls(redactSecrets(line)) },
    },
    options.destination ?? pino.destination(BUFFERED_STDOUT),
  );
}

interface ErrorFields {
  readonly type: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly code?: string;
  readonly cause?: ErrorFields;
  readonly errors?: readonly ErrorFields[];
}

/** Causes and parts of an error are logged this deep. */
const ERROR_DEPTH_MAX = 4;

/**
 * Returns the fields of an error that are safe to log. Libraries attach whole objects to their errors: `pg` adds the
 * connection with its cancel key, and PostgreSQL's detail repeats values of the row.
 */
function describeError(error: unknown, depth = 1): ErrorFields {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { code } = error as NodeJS.ErrnoException;
  const isDeep = depth < ERROR_DEPTH_MAX;
  return {
    type: error.name,
    message: error.message,
    stack: error.stack,
    ...(typeof code === 'string' && { code }),
    ...(isDeep && error.cause !== undefined && { cause: describeError(error.cause, depth + 1) }),
    ...(isDeep &&
      error instanceof AggregateError && {
        errors: error.errors.slice(0, 10).map((part) => describeError(part, depth + 1)),
      }),
  };
}

/** Logs an uncaught error with secrets redacted, then exits, because the process may be in an undefined state. */
export function endOnUncaught(log: Log): void {
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'Uncaught error. The process exits.');
    process.exit(1);
  });
}
