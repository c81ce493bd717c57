import { SvcError } from '@svc-asr/sdk';
import { EXIT, UsageError, type ExitCode } from './command.ts';
import { MediaError } from './media.ts';

/** An error as a sentence that says what happened and what to do, never with a stack or a secret. */
export function explain(error: unknown): string {
  if (error instanceof SvcError) {
    const id = error.requestId === null ? '' : ` (request ${error.requestId})`;
    const advice = ADVICE[error.code];
    return `${error.message}${advice === undefined ? '' : ` ${advice}`}${id}`;
  }
  if (error instanceof UsageError || error instanceof MediaError) return error.message;
  if (isNodeError(error) && error.code === 'ENOENT') return 'There is no such file.';
  if (isNodeError(error) && error.code === 'EACCES') return 'This file may not be read.';
  return error instanceof Error ? error.message : 'Something unexpected went wrong.';
}

const ADVICE: Readonly<Record<string, string>> = {
  insufficient_credits: '`svc usage` shows what it was used for.',
  concurrency_limit_exceeded: '`svc usage` shows it.',
  connection_failed: '`svc doctor` finds out more.',
  timeout: '`svc doctor` finds out more.',
  insecure_base_url: 'Here that is SVC_ALLOW_INSECURE=1.',
};

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return EXIT.usage;
  if (!(error instanceof SvcError)) return EXIT.failed;
  if (error.status === 401 || error.status === 403 || KEY_CODES.has(error.code))
    return EXIT.refused;
  if (error.code === 'insufficient_credits') return EXIT.noCredit;
  return error.retryable ? EXIT.unavailable : EXIT.failed;
}

const KEY_CODES = new Set([
  'missing_api_key',
  'invalid_api_key',
  'missing_base_url',
  'invalid_base_url',
  'insecure_base_url',
]);

function isNodeError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}
