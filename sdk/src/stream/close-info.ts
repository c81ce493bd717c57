import type { ErrorEvent } from '@svc-asr/protocol';
import type { SvcError } from '../errors.ts';

/** Why a stream is over: always said, also where the network said nothing. */
export interface CloseInfo {
  /** WebSocket close code. 1006: the connection was lost or refused, and no close frame came. */
  readonly code: number;
  /** A stable word, such as `completed`, `idle_timeout`, `connection_lost` or an API error code. */
  readonly reason: string;
  readonly message: string;
  /** Whether a new session can help. */
  readonly retryable: boolean;
  readonly sessionId: string | null;
  /** To quote when asking for help. */
  readonly requestId: string | null;
}

/** What is known when a socket has ended. */
export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
  /** The HTTP answer that refused the upgrade, where the platform shows it (Node does, browsers do not). */
  readonly refusal: SvcError | null;
}

const LOST = { reason: 'connection_lost', message: 'The connection was lost.' };
const REFUSED = {
  reason: 'connection_refused',
  message:
    'The stream could not be opened: no network, a busy or restarting server, or a used or expired session. ' +
    'Browsers do not say which.',
};
/** Our side failed or restarts, a proxy went away, or nobody said anything: a new session can help. */
const RETRYABLE_CODES = new Set([1001, 1005, 1006, 1011, 1012, 1013]);
/** The credential's time or its one use is over; a new session has a new one. */
const RETRYABLE_REFUSALS = new Set(['session_credential_expired', 'session_credential_used']);

export function describeClose(
  end: SocketEnd,
  known: { sessionId: string; opened: boolean; fatal: ErrorEvent | null },
): CloseInfo {
  const { refusal } = end;
  if (refusal !== null) {
    return {
      code: 1006,
      reason: refusal.code,
      message: refusal.message,
      retryable: refusal.retryable || RETRYABLE_REFUSALS.has(refusal.code),
      sessionId: known.sessionId,
      requestId: refusal.requestId,
    };
  }
  const silent = known.opened ? LOST : REFUSED;
  return {
    code: end.code,
    reason: end.reason || (known.fatal?.code ?? silent.reason),
    message:
      known.fatal?.message ?? (end.code === 1000 ? 'The stream is complete.' : silent.message),
    retryable: isRetryable(end.code, known.fatal),
    sessionId: known.sessionId,
    requestId: known.fatal?.request_id ?? null,
  };
}

function isRetryable(code: number, fatal: ErrorEvent | null): boolean {
  // 44xx: the same again would meet the same. A server that says otherwise is mistaken.
  if (code >= 4400 && code < 4500) return false;
  return fatal?.retryable ?? RETRYABLE_CODES.has(code);
}

/** What the session that ended so will cost, as far as this side can know. */
export function billed(info: CloseInfo): 'as_told' | 'nothing' | 'unknown' {
  if ([1011, 1012, 1013].includes(info.code)) return 'nothing';
  return info.code === 1006 || info.code === 1005 || info.code === 1001 ? 'unknown' : 'as_told';
}
