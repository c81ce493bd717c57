import type { IncomingMessage } from 'node:http';
import {
  CREDENTIAL_PREFIX,
  LIMITS,
  REFUSAL_CLOSE_CODES,
  SUBPROTOCOL,
  type ServerEvent,
} from '@svc-asr/protocol';
import type { ApiError } from '../../platform/api-error.ts';
import { encodeEvent } from '../rules/pcm-frames.ts';
import type { StreamSocket } from '../connection/stream-socket.ts';

/** A client that doesn't answer the close must not hold the socket. Event and close frame have been sent by then. */
const UNANSWERED_MS = 500;
/** Refused clients need no credential, so there is a limit to the sockets that they hold while they are told why. */
const OPEN_MAX = 256;

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

/** Tells refused browsers the reason. */
export class BrowserRefusals {
  readonly #open = new Set<StreamSocket>();

  /** Above the limit, browsers get the HTTP refusal, which they hide. */
  get isFull(): boolean {
    return this.#open.size >= OPEN_MAX;
  }

  /** Sends the refusal as a fatal error event and closes. Frames of the client are ignored, and a flood is cut off. */
  refuse(
    socket: StreamSocket,
    refusal: { error: ApiError; closeCode: number; requestId: string },
  ): void {
    this.#open.add(socket);
    let frames = 0;
    const ignore = (): void => {
      frames += 1;
      if (frames > LIMITS.textMessagesBurst) socket.terminate();
    };
    socket.on('message', ignore).on('ping', ignore).on('pong', ignore);
    socket.on('error', () => socket.terminate());
    const timer = setTimeout(() => socket.terminate(), UNANSWERED_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#open.delete(socket);
    });
    socket.send(encodeEvent(refusalEvent(refusal)));
    socket.finish(refusal.closeCode, refusal.error.code);
  }
}

function refusalEvent(refusal: {
  error: ApiError;
  closeCode: number;
  requestId: string;
}): ServerEvent {
  const { error, closeCode, requestId } = refusal;
  const waitSeconds = error.retryAfterSeconds;
  return {
    type: 'error',
    message: error.message,
    code: error.code,
    fatal: true,
    retryable: error.status === 429 || error.status === 503,
    close_code: closeCode,
    ...(waitSeconds === null ? {} : { retry_after_ms: waitSeconds * 1000 }),
    request_id: requestId,
  };
}
