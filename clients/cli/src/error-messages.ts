import { SvcError } from '@svc-asr/sdk';
import { EXIT, InterruptedError, UsageError, type ExitCode } from './command.ts';
import { MediaError } from './media.ts';

/** Returns a sentence that says what happened and what to do. Never contains a stack trace or a secret. */
export function describeError(error: unknown): string {
  if (error instanceof SvcError) {
    const id = error.requestId === null ? '' : ` (request ${error.requestId})`;
    const advice = ADVICE[error.code];
    return `${error.message}${advice === undefined ? '' : ` ${advice}`}${id}`;
  }
  if (error instanceof UsageError || error instanceof MediaError) return error.message;
  const code = errorCode(error);
  if (code === 'ENOENT') return 'File not found.';
  if (code === 'EACCES') return 'Permission denied.';
  if (code === 'ENOSPC') return 'The disk is full. Make room, then run the same command again.';
  return error instanceof Error ? error.message : 'Unexpected error.';
}

/** Says what a command waits for, and what would end the wait. */
export function describeWait(error: SvcError): string {
  const advice = WAIT_ADVICE[error.code];
  return `${error.message}${advice === undefined ? '' : ` ${advice}`} Waiting. Press Ctrl-C to stop.`;
}

const WAIT_ADVICE: Readonly<Record<string, string>> = {
  concurrency_limit_exceeded:
    'Stop the other program, such as `svc listen`, or ask the operator for more sessions at once.',
};

const ADVICE: Readonly<Record<string, string>> = {
  insufficient_credits: 'Run `svc usage` to see what used it.',
  concurrency_limit_exceeded: 'Run `svc usage` to see it.',
  connection_failed: 'Run `svc doctor` for details.',
  timeout: 'Run `svc doctor` for details.',
  insecure_base_url: 'For the CLI, set SVC_ALLOW_INSECURE=1.',
};

/** A stable word for JSON output. */
export function errorCode(error: unknown): string {
  if (error instanceof UsageError) return 'usage';
  if (error instanceof MediaError) return 'unreadable_media';
  const hasCode = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return hasCode ? String(error.code) : 'unexpected_error';
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof InterruptedError) return EXIT.interrupted;
  if (!(error instanceof SvcError)) return EXIT.failed;
  if (isRefused(error)) return EXIT.refused;
  if (error.code === 'insufficient_credits') return EXIT.noCredit;
  return error.retryable ? EXIT.unavailable : EXIT.failed;
}

/** The key or the account was refused: every further request would fail the same way. */
function isRefused(error: SvcError): boolean {
  return error.status === 401 || error.status === 403 || KEY_CODES.has(error.code);
}

const KEY_CODES = new Set([
  'missing_api_key',
  'invalid_api_key',
  'missing_base_url',
  'invalid_base_url',
  'insecure_base_url',
]);
