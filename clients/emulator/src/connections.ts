import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';

/** The TCP connections of one local port, so that a fault can break them without a close frame. */
export class Connections {
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #onSocket = (message: unknown): void => {
    const socket = socketOf(message);
    if (socket?.localPort !== this.#port) return;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  };

  constructor(port: number) {
    this.#port = port;
    subscribe('net.server.socket', this.#onSocket);
  }

  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  close(): void {
    unsubscribe('net.server.socket', this.#onSocket);
  }
}

/** Returns the socket of a message on the channels `net.server.socket` and `net.client.socket`. */
export function socketOf(message: unknown): Socket | null {
  if (typeof message !== 'object' || message === null || !('socket' in message)) return null;
  return message.socket instanceof Socket ? message.socket : null;
}
