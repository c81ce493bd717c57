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
    options.destination ?? pino.destination({ fd: 1, sync: true }),
  );
}
