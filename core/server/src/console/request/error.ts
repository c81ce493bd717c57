import { CONSOLE_ERRORS, type ConsoleErrorCode } from '@svc-asr/protocol/console/console.ts';
import type { ErrorBody } from '@svc-asr/protocol';

/** An error response specific to the console. */
export class ConsoleError extends Error {
  readonly code: ConsoleErrorCode;

  constructor(code: ConsoleErrorCode) {
    super(CONSOLE_ERRORS[code].message);
    this.name = 'ConsoleError';
    this.code = code;
  }

  get status(): number {
    return CONSOLE_ERRORS[this.code].status;
  }
}

export function presentConsoleError(error: ConsoleError, requestId: string): ErrorBody {
  const { code, message } = error;
  return { error: { type: 'console_error', code, message, request_id: requestId } };
}
