import type { ServerEvent } from '@svc-asr/protocol';

/** WebSocket clients that are not `ws`: each handles the close handshake in its own way. */
export interface ForeignClient {
  open(url: string, protocols: readonly string[]): Promise<ForeignStream>;
  stop(): Promise<void>;
}

export interface ForeignStream {
  /** Resolves when the event has arrived, now or before. */
  received(type: ServerEvent['type']): Promise<void>;
  /** Sends a binary frame of this many zero bytes. */
  sendZeros(bytes: number): Promise<void>;
  sendText(text: string): Promise<void>;
  /** Undefined for clients that can't do this. */
  sendInvalidUtf8?(): Promise<void>;
  readonly closed: Promise<ForeignClose>;
}

export interface ForeignClose {
  readonly code: number;
  readonly reason: string;
  /** From the last event to the moment when the client reports the close. */
  readonly waitedMs: number;
  readonly events: readonly ServerEvent[];
}

/** A client's report: events in order, then the close. */
export type Report =
  | { readonly event: ServerEvent }
  | { readonly closed: Omit<ForeignClose, 'events'> };

export class Reports {
  readonly events: ServerEvent[] = [];
  readonly closed: Promise<ForeignClose>;
  readonly #resolveClosed: (close: ForeignClose) => void;
  #waiting: (() => void)[] = [];
  #isOver = false;

  constructor() {
    const { promise, resolve: resolveClosed } = Promise.withResolvers<ForeignClose>();
    this.closed = promise;
    this.#resolveClosed = resolveClosed;
  }

  take(report: Report): void {
    if ('event' in report) this.events.push(report.event);
    else {
      this.#isOver = true;
      this.#resolveClosed({ ...report.closed, events: this.events });
    }
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async received(type: ServerEvent['type']): Promise<void> {
    while (!this.events.some((event) => event.type === type)) {
      if (this.#isOver) throw new Error(`The stream closed without ${type}.`);
      await new Promise<void>((wake) => this.#waiting.push(wake));
    }
  }
}

/** Node's built-in WebSocket. */
export function nodeClient(): ForeignClient {
  return {
    open(url, protocols) {
      const reports = new Reports();
      const socket = new WebSocket(url, [...protocols]);
      let lastEventAtMs = performance.now();
      socket.addEventListener('message', ({ data }) => {
        lastEventAtMs = performance.now();
        reports.take({ event: JSON.parse(String(data)) });
      });
      socket.addEventListener('close', ({ code, reason }) => {
        reports.take({ closed: { code, reason, waitedMs: performance.now() - lastEventAtMs } });
      });
      return Promise.resolve({
        closed: reports.closed,
        received: (type) => reports.received(type),
        sendZeros: async (bytes) => socket.send(new Uint8Array(bytes)),
        sendText: async (text) => socket.send(text),
      });
    },
    stop: async () => {},
  };
}
