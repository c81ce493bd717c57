/** A client that is this far behind no longer reads. */
const UNSENT_BYTES_MAX = 1024 * 1024;
/** Answers to pings may wait up to this much: a client that pings and never reads would fill the memory. */
const PONGS_BYTES_MAX = 64 * 1024;
const OPEN = 1;
const TOO_LARGE = 1009;

/** What this file uses of a WebSocket of `ws`, whose server has `autoPong: false`. */
interface WebSocket {
  readonly readyState: number;
  readonly bufferedAmount: number;
  on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): unknown;
  on(event: 'ping', listener: (data: Buffer) => void): unknown;
  on(event: 'error' | 'close', listener: () => void): unknown;
  send(text: string): void;
  pong(data: Buffer): void;
  pause(): void;
  resume(): void;
  close: (code?: number, reason?: string) => void;
  terminate(): void;
}

/** A client's WebSocket in a bridge. Errors end it and nothing else, and a client that doesn't read is cut off. */
export class ClientSocket {
  /** Resolves when the socket has closed, for whatever reason. */
  readonly closed: Promise<void>;
  readonly #socket: WebSocket;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #isPaused = false;
  #isTooLarge = false;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.on('close', resolve));
    // Without a listener one client's broken frame would end the process.
    socket.on('error', () => {
      // ws discards the rest of a large frame, so that its sender can read why.
      if (!this.#isTooLarge) socket.terminate();
    });
    socket.on('ping', (data) => {
      if (socket.bufferedAmount > PONGS_BYTES_MAX) socket.terminate();
      else socket.pong(data);
    });
  }

  onText(listener: (text: string) => void): void {
    this.#socket.on('message', (data, isBinary) => {
      if (!isBinary) this.#protect(() => listener(data.toString('utf8')));
    });
  }

  onBinary(listener: (bytes: Buffer) => void): void {
    this.#socket.on('message', (data, isBinary) => {
      if (isBinary) this.#protect(() => listener(data));
    });
  }

  /** Before the close with 1009, which ws does by itself. Its call of `close` is the only sign that it gives in time. */
  onTooLarge(listener: () => void): void {
    const close = this.#socket.close.bind(this.#socket);
    this.#socket.close = (code, reason) => {
      if (code === TOO_LARGE && !this.#isTooLarge) {
        this.#isTooLarge = true;
        listener();
      }
      close(code, reason);
    };
  }

  onClose(listener: () => void): void {
    this.#socket.on('close', listener);
  }

  /** Once, when the client has sent no message for `ms` although it was read. */
  onSilence(ms: number, listener: () => void): void {
    const silence = setTimeout(() => {
      if (this.#isPaused) silence.refresh();
      else listener();
    }, ms);
    this.#silence = silence;
    this.#socket.on('message', () => silence.refresh());
    this.#socket.on('close', () => clearTimeout(silence));
  }

  /** Stops reading while the service is behind. */
  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  /** What the client sent meanwhile has yet to be read. */
  resume(): void {
    if (this.#isPaused) this.#silence?.refresh();
    this.#isPaused = false;
    this.#socket.resume();
  }

  send(message: object): void {
    if (this.#socket.readyState !== OPEN) return;
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
    if (this.#socket.readyState !== OPEN) return;
    try {
      listener();
    } catch {
      this.close(1011, 'internal_error');
    }
  }
}
