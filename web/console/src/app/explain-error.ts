import type { Texts } from '../texts/en.ts';
import { ConsoleApiError } from './api.ts';
import { formatWait } from './format.ts';

/** Returns what happened and what to do, in the user's language. */
export function explainError(error: unknown, texts: Texts): string {
  if (!(error instanceof ConsoleApiError)) return texts.errors.page;
  if (error.code === 'request_rate_exceeded' && error.retryAfterMs !== null) {
    return texts.errors.wait(formatWait(error.retryAfterMs, texts));
  }
  return texts.errors.codes[error.code] ?? error.message;
}
