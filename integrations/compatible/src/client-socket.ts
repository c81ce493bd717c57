import { WebSocket } from 'ws';

/** A client that is this far behind no longer reads. */
const UNSENT_BYTES_MAX = 1024 * 1024;

/** A client's WebSocket. Errors end it and nothing else, and a client that doesn't read is cut off. */
export class ClientSocket {
  /** Resolves when the socket has closed, for whatever reason. */
  readonly closed: Promise<void>;
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    // Without a listener one client's broken frame would end the process.
    socket.on('error', () => socket.terminate());
  }

  onText(listener: (text: string) => void): void {
    this.#socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) this.#protect(() => listener(data.toString('utf8')));
    });
  }

  onBinary(listener: (bytes: Buffer) => void): void {
    this.#socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.#protect(() => listener(data));
    });
  }

  /** Stops reading while the service is behind. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  send(message: object): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    if (this.#socket.bufferedAmount > UNSENT_BYTES_MAX) return this.#socket.terminate();
    this.#socket.send(JSON.stringify(message));
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #protect(listener: () => void): void {
    // Frames that arrive after a refusal belong to no stream.
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    try {
      listener();
    } catch {
      this.close(1011, 'internal_error');
    }
  }
}
