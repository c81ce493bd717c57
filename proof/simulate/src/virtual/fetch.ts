import type { HttpAnswer, HttpRequest, HttpServer } from './http.ts';
import { currentProcess } from './process.ts';
import type { VirtualNetwork } from './network.ts';
import { scheduler } from './scheduler.ts';
import type { Path } from './socket.ts';

/** What becomes of one request. With `request_unheard` nobody answers, not even the connection. */
export type RequestFate =
  | 'delivered'
  | 'request_unheard'
  | 'request_lost'
  | 'answer_lost'
  | 'no_answer';

export interface FetchInput {
  readonly network: VirtualNetwork;
  /** The load balancer. Null: nobody listens. */
  readonly choose: () => HttpServer | null;
  readonly fate: () => RequestFate;
  readonly watch: {
    /** The load balancer has passed a request on. */
    readonly onSent: (client: string, request: HttpRequest) => void;
    readonly onAnswered: (client: string, request: HttpRequest, answer: HttpAnswer) => void;
    /** A client sends a request, whether or not anybody hears it. */
    readonly onAsked: (client: string) => void;
    /** The client has the answer. */
    readonly onTold: (client: string, request: HttpRequest, answer: HttpAnswer) => void;
  };
}

/** Replaces `fetch` by requests over the virtual network. */
export function installFetch(input: FetchInput): void {
  let requests = 0;
  const fetch = (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const path = input.network.path(`request ${requests++}`);
    return send(input, { url: new URL(url), init, path });
  };
  Object.defineProperty(globalThis, 'fetch', { value: fetch, configurable: true, writable: true });
}

function send(
  { choose, fate, watch }: FetchInput,
  { url, init, path }: { url: URL; init: RequestInit; path: Path },
): Promise<Response> {
  const client = currentProcess();
  const name = client?.name ?? '';
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const signal = init.signal ?? undefined;
  if (signal?.aborted === true) return Promise.reject(signal.reason);
  signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  watch.onAsked(name);
  const fail = (): void => {
    scheduler.deliver(client, path.delayMs(), () => reject(networkError()));
  };
  const server = choose();
  const happens = fate();
  if (happens === 'request_unheard') return promise;
  if (server === null || happens === 'request_lost') {
    fail();
    return promise;
  }
  const request: HttpRequest = {
    method: init.method ?? 'GET',
    path: url.pathname,
    headers: new Headers(init.headers),
    body: typeof init.body === 'string' ? init.body : '',
  };
  watch.onSent(name, request);
  const forget = server.owner.onDeath(fail);
  scheduler.deliver(server.owner, path.delayMs(), () => {
    void server.answer(request).then((answer) => {
      forget();
      watch.onAnswered(name, request, answer);
      if (happens === 'answer_lost') return fail();
      if (happens === 'no_answer') return undefined;
      return scheduler.deliver(client, path.delayMs(), () => {
        if (signal?.aborted !== true) watch.onTold(name, request, answer);
        resolve(toResponse(answer));
      });
    });
  });
  return promise;
}

function toResponse({ status, headers, body }: HttpAnswer): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

function networkError(): TypeError {
  return new TypeError('fetch failed', { cause: new Error('ECONNRESET') });
}
