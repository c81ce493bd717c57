import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { AsrSession, ErrorBody, ServerEvent } from '@svc-asr/protocol';
import { WebSocket, type ClientOptions } from 'ws';

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

export interface Refusal {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: ErrorBody;
}

export interface OpenOptions extends ClientOptions {
  readonly url?: string;
  readonly protocols?: readonly string[];
}

type EventOf<T extends ServerEvent['type']> = Extract<ServerEvent, { type: T }>;

/** A plain WebSocket client for tests. It waits for events (the n-th of a type, the close), never for a fixed time. */
export class StreamClient {
  readonly socket: WebSocket;
  readonly events: ServerEvent[] = [];
  /** The underlying connection, for sending bytes that a WebSocket library would not. */
  wire: Socket | null = null;
  /** X-Request-Id of the 101 response. */
  requestId: string | string[] | undefined;
  /** Resolves with the server's close code and reason. */
  readonly closed: Promise<Closed>;
  #over: Closed | null = null;
  #waiting: (() => void)[] = [];

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data, isBinary) => {
      if (isBinary || !Buffer.isBuffer(data)) throw new Error('The server sends text only.');
      this.events.push(JSON.parse(data.toString('utf8')));
      this.#notice();
    });
    socket.on('error', () => {});
    socket.once('upgrade', (response) => {
      this.wire = response.socket;
      this.requestId = response.headers['x-request-id'];
    });
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        this.#over = { code, reason: reason.toString() };
        this.#notice();
        resolve(this.#over);
      });
    });
  }

  static async open(session: AsrSession, options: OpenOptions = {}): Promise<StreamClient> {
    const {
      url = session.websocket_url,
      protocols = session.websocket_protocols,
      ...rest
    } = options;
    const client = new StreamClient(new WebSocket(url, [...protocols], rest));
    await once(client.socket, 'open');
    return client;
  }

  /** Opens a stream and waits for `ready`. */
  static async ready(session: AsrSession, options: OpenOptions = {}): Promise<StreamClient> {
    const client = await StreamClient.open(session, options);
    await client.next('ready');
    return client;
  }

  ofType<T extends ServerEvent['type']>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type);
  }

  /** Waits for the n-th event of a type, counted from 1. */
  async next<T extends ServerEvent['type']>(type: T, count = 1): Promise<EventOf<T>> {
    return this.find(() => this.ofType(type)[count - 1], `${type} number ${count}`);
  }

  async status(code: string): Promise<EventOf<'status'>> {
    return this.find(() => this.ofType('status').find((event) => event.code === code), code);
  }

  async error(code: string): Promise<EventOf<'error'>> {
    return this.find(() => this.ofType('error').find((event) => event.code === code), code);
  }

  send(audio: Uint8Array): this {
    this.socket.send(audio);
    return this;
  }

  say(message: unknown): this {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    return this;
  }

  async flush(): Promise<EventOf<'final'>> {
    const count = this.ofType('final').length + 1;
    this.say({ type: 'flush' });
    return this.next('final', count);
  }

  async close(): Promise<Closed> {
    this.socket.close(1000);
    return this.closed;
  }

  async find<T>(look: () => T | undefined, what: string): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.#over !== null) {
        const { code, reason } = this.#over;
        throw new Error(`Closed with ${code} ${reason} before ${what} arrived.`);
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #notice(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** Attempts an upgrade that the server must refuse, and returns the refusal. */
export async function refused(
  url: string,
  protocols: readonly string[],
  options: ClientOptions = {},
): Promise<Refusal> {
  const socket = new WebSocket(url, [...protocols], options);
  socket.on('error', () => {});
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    socket.once('unexpected-response', (_request, answer) => resolve(answer));
    socket.once('open', () => reject(new Error('The upgrade was accepted.')));
  });
  const body: ErrorBody = JSON.parse(await text(response));
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/** Returns audio that passes every check as speech: not silent, not clipped, not text. */
export function speech(input: { ms?: number; samples?: number }): Buffer {
  const samples = input.samples ?? (input.ms ?? 0) * 16;
  const pcm = Buffer.alloc(samples * 2);
  for (let at = 0; at < samples; at += 1) pcm.writeInt16LE(((at * 7919) % 8_000) - 4_000, at * 2);
  return pcm;
}

/** Splits audio into frames of 100 ms, like a microphone. */
export function* framed(pcm: Uint8Array, frameBytes = 3_200): Generator<Uint8Array> {
  for (let at = 0; at < pcm.byteLength; at += frameBytes) yield pcm.subarray(at, at + frameBytes);
}
