import { createLog, type Log } from '@svc-asr/server/platform/observe/log.ts';
import { Trace } from '../virtual/trace.ts';

let current = new Trace();
let log: Log | null = null;

/** The service's log, into the trace. One logger serves all runs, because a logger is costly to make. */
export function traceLog(trace: Trace): Log {
  current = trace;
  log ??= createLog({
    level: 'warn',
    destination: { write: (line) => current.add(`logs ${messageOf(line)}`) },
  });
  return log;
}

function messageOf(line: string): string {
  const { level, msg, err }: { level: string; msg: string; err?: { message: string } } =
    JSON.parse(line);
  return `${level}: ${msg}${err === undefined ? '' : ` (${err.message})`}`;
}
