import type { ErrorEvent } from '@svc-asr/protocol';
import type { SvcError, SvcErrorDetails } from '../errors.ts';
import { userMessageFor } from '../user-messages.ts';

/** Why a stream ended. Always complete, even when the network gave no reason. */
export interface CloseInfo {
  /** WebSocket close code. 1006: the connection was lost or refused without a close frame. */
  readonly code: number;
  /** A stable word, such as `completed`, `idle_timeout`, `connection_lost` or an API error code. */
  readonly reason: string;
  /** For developers. */
  readonly message: string;
  /** A sentence to show to the user of a page, in English. */
  readonly userMessage: string;
  /** Whether a new session can help. */
  readonly retryable: boolean;
  /** How long the service asked clients to wait before the next session, if it said so. */
  readonly retryAfterMs: number | null;
  readonly sessionId: string | null;
  /** Quote it when you ask for support. */
  readonly requestId: string | null;
}

/** How a socket ended. */
export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
  /** The HTTP response that refused the upgrade. Node shows it; browsers hide it. */
  readonly refusal: SvcError | null;
}

export const COMPLETE = 'The stream is complete.';
const NODE_LOST: ReadonlySet<string> = new Set([
  'connection_failed',
  'connection_lost',
  'connection_refused',
  'capacity_exceeded',
]);
/** The connection broke. */
const LOST_CODES: ReadonlySet<number> = new Set([1001, 1005, 1006]);
/** The service failed, restarts or is busy. */
const FAILED_CODES: ReadonlySet<number> = new Set([1011, 1012, 1013]);
/** The credential expired or was used. A new session has a new credential. */
const SPENT = /^session_credential_(expired|used)$/;

export interface KnownAtClose {
  readonly sessionId: string;
  readonly url: string;
  readonly opened: boolean;
  readonly fatal: ErrorEvent | null;
}

/** Builds the close information of an error. The close that it came with has what the error leaves out. */
export function closeInfo(error: SvcErrorDetails, close: CloseInfo | null = null): CloseInfo {
  return {
    code: error.closeCode ?? close?.code ?? 1006,
    reason: error.code,
    message: error.message,
    userMessage: error.userMessage ?? userMessageFor(error),
    retryable: error.retryable,
    retryAfterMs: error.retryAfterMs ?? null,
    sessionId: error.sessionId ?? close?.sessionId ?? null,
    requestId: error.requestId ?? close?.requestId ?? null,
  };
}

export function describeClose(end: SocketEnd, known: KnownAtClose): CloseInfo {
  const { refusal } = end;
  const { fatal } = known;
  const cause = refusal ?? fatal ?? unexplained(end, known);
  return closeInfo({
    closeCode: end.code,
    code: end.reason || cause.code,
    message: cause.message,
    retryable: isRetryable(end, known),
    retryAfterMs: refusal?.retryAfterMs ?? fatal?.retry_after_ms ?? null,
    sessionId: known.sessionId,
    requestId: refusal?.requestId ?? fatal?.request_id ?? null,
  });
}

/**
 * Browsers say nothing about a socket that never opened, not even that they don't trust the certificate. Opening the
 * server's address shows the cause, and a development certificate can be accepted there.
 */
function unexplained({ code }: SocketEnd, { opened, url }: KnownAtClose) {
  if (!opened) {
    const origin = url.replace(/^ws(s?:\/\/[^/]*).*/, 'http$1');
    return {
      code: 'connection_refused',
      message: `The stream could not be opened. Open ${origin} in this browser to see why or to accept its certificate.`,
    };
  }
  const message = code === 1000 ? COMPLETE : 'The connection was lost.';
  return { code: 'connection_lost', message };
}

/** Codes 4400 to 4499 ask for a change first: only a wait (4429) or a new credential (4401) is one. */
function isRetryable(end: SocketEnd, known: KnownAtClose): boolean {
  const { code, refusal } = end;
  if (refusal !== null) return refusal.retryable || isSpent(end, known);
  if (code === 4429) return true;
  if (code >= 4400 && code < 4500) return code === 4401 && isSpent(end, known);
  return known.fatal?.retryable ?? (code === 4503 || billed(end) !== 'as_told');
}

/** Whether a session that was never ready can still be opened. A refused upgrade doesn't spend the credential. */
export function isUnused(end: SocketEnd, known: KnownAtClose): boolean {
  const isRefused = end.code >= 4400 && end.code < 4600;
  return (!known.opened || isRefused) && !isSpent(end, known);
}

function isSpent({ reason, refusal }: SocketEnd, { fatal }: KnownAtClose): boolean {
  return SPENT.test((refusal ?? fatal)?.code ?? reason);
}

/** The service ended a healthy session because it was idle or open for too long. */
export function endedByTime(close: CloseInfo): 'resume' | 'rollover' | null {
  if (close.code !== 4408) return null;
  return close.reason === 'session_time_limit' ? 'rollover' : 'resume';
}

/** What the session will cost, as far as the client can know. */
export function billed({ code }: Pick<CloseInfo, 'code'>): 'as_told' | 'nothing' | 'unknown' {
  if (FAILED_CODES.has(code)) return 'nothing';
  return LOST_CODES.has(code) ? 'unknown' : 'as_told';
}

/** Whether another node is wanted: nobody answered, the connection could not be opened, or the node is full. */
export function isNodeLost({ code, reason }: CloseInfo): boolean {
  return (code === 1006 || code === 4503) && NODE_LOST.has(reason);
}
