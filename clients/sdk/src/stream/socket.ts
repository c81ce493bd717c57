import type { SocketEnd } from './close-info.ts';

/** The part of a WebSocket that a stream needs, implemented for browsers and for Node. */
export interface Socket {
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Sends a close frame. `onEnd` follows after the server's close frame. */
  close(): void;
  /** Ends the connection at once, for servers that don't answer. */
  drop(): void;
  readonly bufferedBytes: number;
}

export interface SocketHandlers {
  onOpen(): void;
  onText(text: string): void;
  /** The platform reports that it has no network. Node never does. */
  onOffline(): void;
  /** Called exactly once, as the last callback. */
  onEnd(end: SocketEnd): void;
}

export type Connect = (
  address: { url: string; protocols: readonly string[] },
  handlers: SocketHandlers,
) => Socket;
