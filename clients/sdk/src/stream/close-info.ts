import type { ErrorEvent } from '@svc-asr/protocol';
import type { SvcError } from '../errors.ts';
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

const NODE_LOST: ReadonlySet<string> = new Set([
  'connection_failed',
  'connection_lost',
  'connection_refused',
  'capacity_exceeded',
]);
const LOST = { reason: 'connection_lost', message: 'The connection was lost.' };
/** The service failed, restarts or is busy, or the connection broke. */
const RETRYABLE_CODES: ReadonlySet<number> = new Set([
  1001, 1005, 1006, 1011, 1012, 1013, 4429, 4503,
]);
/** The credential expired or was used. A new session has a new credential. */
const RETRYABLE_REFUSALS: ReadonlySet<string> = new Set([
  'session_credential_expired',
  'session_credential_used',
]);

/**
 * Browsers say nothing about a socket that never opened, not even that they don't trust the certificate. Opening the
 * server's address shows the cause, and a development certificate can be accepted there.
 */
function neverOpened(url: string): { reason: string; message: string } {
  const origin = url.replace(/^ws(s?:\/\/[^/]*).*/, 'http$1');
  return {
    reason: 'connection_refused',
    message: `The stream could not be opened. Open ${origin} in this browser to see why or to accept its certificate.`,
  };
}

export interface KnownAtClose {
  readonly sessionId: string;
  readonly url: string;
  readonly opened: boolean;
  readonly fatal: ErrorEvent | null;
}

export function describeClose(end: SocketEnd, known: KnownAtClose): CloseInfo {
  const told = end.refusal === null ? fromSocket(end, known) : fromRefusal(end.refusal);
  const userMessage = userMessageFor({ code: told.reason, retryable: told.retryable });
  return { ...told, userMessage, sessionId: known.sessionId };
}

type Told = Omit<CloseInfo, 'sessionId' | 'userMessage'>;

function fromRefusal(refusal: SvcError): Told {
  return {
    code: 1006,
    reason: refusal.code,
    message: refusal.message,
    retryable: refusal.retryable || RETRYABLE_REFUSALS.has(refusal.code),
    retryAfterMs: refusal.retryAfterMs,
    requestId: refusal.requestId,
  };
}

function fromSocket(end: SocketEnd, { fatal, opened, url }: KnownAtClose): Told {
  const silent = opened ? LOST : neverOpened(url);
  return {
    code: end.code,
    reason: end.reason || (fatal?.code ?? silent.reason),
    message: fatal?.message ?? (end.code === 1000 ? 'The stream is complete.' : silent.message),
    retryable: isRetryable(end, fatal),
    retryAfterMs: fatal?.retry_after_ms ?? null,
    requestId: fatal?.request_id ?? null,
  };
}

/** Codes 4400 to 4499 ask for a change first: only a wait (4429) or a new credential (4401) is one. */
function isRetryable({ code, reason }: SocketEnd, fatal: ErrorEvent | null): boolean {
  if (code === 4429) return true;
  if (code >= 4400 && code < 4500) {
    return code === 4401 && RETRYABLE_REFUSALS.has(fatal?.code ?? reason);
  }
  return fatal?.retryable ?? RETRYABLE_CODES.has(code);
}

/** Whether a session that was never ready can still be opened. A refused upgrade doesn't spend the credential. */
export function isUnused({ code, reason, refusal }: SocketEnd, known: KnownAtClose): boolean {
  if (refusal !== null) return !RETRYABLE_REFUSALS.has(refusal.code);
  const isRefused = code >= 4400 && code < 4600;
  return !known.opened || (isRefused && !RETRYABLE_REFUSALS.has(known.fatal?.code ?? reason));
}

/** The service ended a healthy session because it was idle or open for too long. */
export function endedByTime(close: CloseInfo): 'resume' | 'rollover' | null {
  if (close.code !== 4408) return null;
  return close.reason === 'session_time_limit' ? 'rollover' : 'resume';
}

/** What the session will cost, as far as the client can know. */
export function billed(info: CloseInfo): 'as_told' | 'nothing' | 'unknown' {
  if ([1011, 1012, 1013].includes(info.code)) return 'nothing';
  return info.code === 1006 || info.code === 1005 || info.code === 1001 ? 'unknown' : 'as_told';
}

/** Whether another node is wanted: nobody answered, the connection could not be opened, or the node is full. */
export function isNodeLost({ code, reason }: CloseInfo): boolean {
  return (code === 1006 || code === 4503) && NODE_LOST.has(reason);
}
