import type { SocketEnd } from './close-info.ts';

/** One WebSocket, as little of it as a stream needs. Browsers and Node each have their own. */
export interface Socket {
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Says goodbye; `onEnd` follows when the other side has answered. */
  close(): void;
  /** Gives up at once, for a side that does not answer. */
  drop(): void;
  readonly bufferedBytes: number;
}

export interface SocketHandlers {
  onOpen(): void;
  onText(text: string): void;
  /** Exactly once, and nothing after it. */
  onEnd(end: SocketEnd): void;
}

export type Connect = (
  address: { url: string; protocols: readonly string[] },
  handlers: SocketHandlers,
) => Socket;
