import type { Texts } from '../texts/en.ts';
import { ConsoleApiError } from './api.ts';

/** Returns what happened and what to do, in the user's language. */
export function explainError(error: unknown, texts: Texts): string {
  if (!(error instanceof ConsoleApiError)) return texts.errors.page;
  return texts.errors.codes[error.code] ?? error.message;
}
