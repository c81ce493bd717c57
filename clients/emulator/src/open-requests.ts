import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ServerResponse } from 'node:http';
import { socketOf } from './connections.ts';

const PAGE = '<html><body><h1>500 Internal Server Error</h1></body></html>\n';

/**
 * The responses of HTTP requests under way, for faults that the service itself never has: what a client sees through a proxy
 * or a network that fails.
 */
export class OpenRequests {
  readonly #port: number;
  readonly #current = new AsyncLocalStorage<ServerResponse>();
  readonly #hanging = new Set<ServerResponse>();
  readonly #onStart = (message: unknown): void => {
    const response = responseOf(message);
    // The request is handled in this asynchronous context. The response has no socket yet.
    if (response !== null && socketOf(message)?.localPort === this.#port) {
      this.#current.enterWith(response);
    }
  };

  constructor(port: number) {
    this.#port = port;
    subscribe('http.server.request.start', this.#onStart);
  }

  /** Answers the request that is handled now with a page. The server gets no further with it. */
  fail(): Promise<never> {
    const type = 'text/html; charset=utf-8';
    this.#current.getStore()?.writeHead(500, { 'content-type': type }).end(PAGE);
    return new Promise<never>(() => {});
  }

  /** Leaves the request that is handled now without an answer, until the client or the server gives up. */
  hang(): Promise<never> {
    const response = this.#current.getStore();
    if (response !== undefined) {
      this.#hanging.add(response);
      response.once('close', () => this.#hanging.delete(response));
    }
    return new Promise<never>(() => {});
  }

  /** Ends requests that hang, so that the server can stop. */
  release(): void {
    for (const response of this.#hanging) response.destroy();
  }

  close(): void {
    unsubscribe('http.server.request.start', this.#onStart);
  }
}

function responseOf(message: unknown): ServerResponse | null {
  if (typeof message !== 'object' || message === null || !('response' in message)) return null;
  return message.response instanceof ServerResponse ? message.response : null;
}
