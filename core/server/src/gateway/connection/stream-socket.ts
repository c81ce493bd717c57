import { isUtf8 } from 'node:buffer';
import { LIMITS, type StreamErrorCode } from '@svc-asr/protocol';
import { WebSocket } from 'ws';
import { refuseLongLengths } from './frame-lengths.ts';

/**
 * `ws` answers a client's close frame, and a protocol violation, with a close frame of its own at once. Ours must
 * wait: the error event goes out first, and the session must be settled first, because a client that has seen the
 * close may create its next session.
 */
export class StreamSocket extends WebSocket {
  #isFinished = false;

  /**
   * Only `ws` calls this: after a violation, before it emits 'error' in the same turn, and when the client's close
   * frame has arrived. If ours went out before, the handshake is complete and `ws` closes TCP.
   */
  override close(_code?: number, reason?: string | Buffer): void {
    if (this.#isFinished) return super.close();
    const isText = typeof reason !== 'object' || isUtf8(reason);
    process.nextTick(() => this.emit('client-close', isText));
  }

  /** Only `ws` calls this, when the handshake is complete. */
  setSocket(...input: readonly unknown[]): void {
    // The types of `ws` leave it out.
    const setSocket: unknown = Reflect.get(WebSocket.prototype, 'setSocket');
    if (typeof setSocket !== 'function')
      throw new TypeError('This version of ws opens sockets differently.');
    Reflect.apply(setSocket, this, input);
    const receiver: unknown = Reflect.get(this, '_receiver');
    refuseLongLengths(receiver);
  }

  /** Sends the close frame. */
  finish(code: number, reason: string): void {
    this.#isFinished = true;
    super.close(code, reason);
  }
}

export const SOCKET_OPTIONS = {
  noServer: true,
  clientTracking: false,
  WebSocket: StreamSocket,
  perMessageDeflate: false,
  // Text is checked here and not by `ws`, so that the error event can go out before the close.
  skipUTF8Validation: true,
  // Slightly above the limit, for the same reason. A much larger message is not read at all.
  maxPayload: LIMITS.frameBytes + 1024,
  maxFragments: 64,
  // One message per connection and turn of the event loop. One read can hold ten thousand frames.
  allowSynchronousEvents: false,
  closeTimeout: 5_000,
} as const;

/** Returns the protocol error that `ws` found, or null for a broken connection. */
export function violation(error: Error & { code?: string }): StreamErrorCode | null {
  switch (error.code) {
    case 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH':
    case 'WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH':
      return 'message_too_large';
    case 'WS_ERR_TOO_MANY_BUFFERED_PARTS':
      return 'too_many_errors';
    case undefined:
      return null;
    default:
      return error.code.startsWith('WS_ERR_') ? 'protocol_error' : null;
  }
}
