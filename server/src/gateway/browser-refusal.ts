import type { IncomingMessage } from 'node:http';
import { CREDENTIAL_PREFIX, REFUSAL_CLOSE_CODES, SUBPROTOCOL } from '@svc-asr/protocol';
import type { ApiError } from '../platform/api-error.ts';
import { encodeEvent } from './pcm-frames.ts';
import type { StreamSocket } from './stream-socket.ts';

/** A client that doesn't answer the close must not hold the socket. */
const UNANSWERED_MS = 1_000;

/** Returns the close code for a client that cannot see an HTTP refusal, or null for one that can. */
export function browserCloseCode(
  request: IncomingMessage,
  refusal: { error: ApiError; offered: readonly string[] },
): number | null {
  const { error, offered } = refusal;
  const isBrowser = request.headers.origin !== undefined;
  const offersBoth =
    offered.includes(SUBPROTOCOL) && offered.some((value) => value.startsWith(CREDENTIAL_PREFIX));
  // Not a valid handshake, so it can't be accepted.
  if (error.code === 'malformed_request' || !isBrowser || !offersBoth) return null;
  return REFUSAL_CLOSE_CODES[error.status] ?? null;
}

/** Sends the refusal as a fatal error event and closes. Nothing that the client sends is read. */
export function refuseOpenSocket(
  socket: StreamSocket,
  refusal: { error: ApiError; closeCode: number; requestId: string },
): void {
  const { error, closeCode, requestId } = refusal;
  const waitSeconds = error.retryAfterSeconds;
  socket.on('error', () => socket.terminate());
  const timer = setTimeout(() => socket.terminate(), UNANSWERED_MS);
  socket.once('close', () => clearTimeout(timer));
  const event = {
    type: 'error',
    message: error.message,
    code: error.code,
    fatal: true,
    retryable: error.status === 429 || error.status === 503,
    close_code: closeCode,
    ...(waitSeconds === null ? {} : { retry_after_ms: waitSeconds * 1000 }),
    request_id: requestId,
  } as const;
  socket.send(encodeEvent(event));
  socket.finish(closeCode, error.code);
}
