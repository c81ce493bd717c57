import { canStart, FFMPEG_MISSING } from '@svc-asr/runtime/audio-sandbox.ts';
import { endSocket } from '@svc-asr/runtime/end-socket.ts';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '@svc-asr/runtime/listen.ts';
import { clientAddress, trustProxies } from '@svc-asr/runtime/network.ts';
import { hasBearer } from '@svc-asr/runtime/server-access.ts';
import { guarded, guardHttpServer, readTarget } from '@svc-asr/runtime/server-guard.ts';
import { WebSocketServer } from 'ws';
import { Decoders } from './audio/decoders.ts';
import { Callers, type Entry } from './callers.ts';
import { ClientSocket } from '@svc-asr/runtime/client-socket.ts';
import { checkConfig, type Config } from './config.ts';
import type { Door, DoorContext, Log } from './door.ts';
import { IgnoredParameters } from './ignored-parameters.ts';
import { hideKey } from './keys.ts';
import { splitPrefix } from './languages.ts';
import { CompatibleMetrics } from './metrics.ts';
import { badRequest, busy, errorBody, errorHeaders, Refusal, toRefusal } from './refusal.ts';

export interface CompatibleServer {
  readonly url: string;
  readonly metrics: CompatibleMetrics;
  /** Refuses new work and waits for the current requests and sockets to end, at most this long. Then stops. */
  drain(msMax: number): Promise<void>;
  /** Ends everything now. */
  stop(): Promise<void>;
}

export const FRAME_BYTES_MAX = 1024 * 1024;
/** A hundred keyterms in the query of `/v1/listen`, and the headers of a program and its proxies. */
const HEADER_BYTES_MAX = 12 * 1024;
/** A large file on a slow line, read at the service's pace. A body that sends nothing is ended much earlier. */
const REQUEST_MS_MAX = 4 * 60 * 60_000;
const KEEP_ALIVE_MS = 30_000;
const DRAIN_LOOK_MS = 100;
const DISCARD_MS_MAX = 10_000;

const NOT_FOUND = new Refusal({
  status: 404,
  code: 'not_found',
  message: 'Not found. Set the base URL to https://HOST/v1, or /ki/v1 or /luo/v1 for one language.',
});
const WRONG_METHOD = new Refusal({
  status: 405,
  code: 'method_not_allowed',
  message: 'This endpoint does not support the method.',
});
const DRAINING = busy('service_restarting', 'This server is restarting. Try again in a moment.');
const FROM_A_PAGE = new Refusal({
  status: 403,
  code: 'origin_not_allowed',
  message:
    'API keys do not belong in web pages. Connect from your server, or create a session there and open its stream in ' +
    'the page.',
});

/** Starts the HTTP listener and routes requests and sockets to the doors. */
export async function startCompatible(
  config: Config,
  input: { readonly doors: readonly Door[]; readonly log: Log },
): Promise<CompatibleServer> {
  checkConfig(config);
  const { limits } = config;
  const metrics = new CompatibleMetrics();
  const callers = new Callers(config, metrics);
  const decoders = new Decoders({ ffmpeg: config.ffmpeg, limits, metrics });
  const context: DoorContext = { config, metrics, decoders, log: input.log };
  const doors = new Map(input.doors.flatMap((door) => door.paths.map((path) => [path, door])));
  const isTrusted = trustProxies(config.trustedProxies);
  const stopping = new AbortController();
  const websockets = new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_BYTES_MAX,
    autoPong: false,
  });
  const hasDecoder = await canStart(config.ffmpeg);
  if (!hasDecoder) {
    input.log({ level: 'warning', code: 'ffmpeg_missing', message: FFMPEG_MISSING });
  }
  let isDraining = false;
  metrics.gauge('svc_compatible_draining', () => (isDraining ? 1 : 0));

  function enter(request: IncomingMessage): Entry {
    const peer = request.socket.remoteAddress ?? '';
    return callers.enter(clientAddress(peer, request.headers['x-forwarded-for'], isTrusted));
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = readTarget(request);
    if (target.path === '/healthz') return void response.end('ok\n');
    if (target.path === '/readyz') {
      const notice = hasDecoder ? '' : `${FFMPEG_MISSING}\n`;
      return void response.writeHead(isDraining ? 503 : 200).end(notice);
    }
    if (target.path === '/metrics' && config.metricsToken !== null) {
      return writeMetrics(request, response, { metrics, token: config.metricsToken });
    }
    const { prefix, path } = splitPrefix(target.path);
    const door = doors.get(path);
    const requestId = randomUUID();
    response.setHeader('x-request-id', requestId);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, stopping.signal]);
    const ignored = new IgnoredParameters((header) => {
      if (!response.headersSent) response.setHeader(...header);
    });
    let entry: Entry | null = null;
    try {
      if (door === undefined) throw NOT_FOUND;
      const handle = handlerOf(door, request.method ?? '');
      const readKey = hideKey(request);
      entry = enter(request);
      if (isDraining) throw DRAINING;
      const caller = await entry.identify(readKey(), signal);
      metrics.count('svc_compatible_requests_total', { door: door.name });
      const ignore = (name: string): void => ignored.add(name);
      const { query } = target;
      const admitted = { request, requestId, path, query, prefix, caller, signal, ignore };
      await handle({ ...admitted, response }, context);
    } catch (error) {
      const refusal = report(error, signal);
      if (response.headersSent) response.destroy();
      else {
        writeRefusal(response, { refusal, door, requestId });
        discardBody(request);
      }
    } finally {
      entry?.leave();
      // A client that doesn't read its answer.
      if (!response.writableFinished) {
        response.setTimeout(limits.idleMs, () => void response.destroy());
      }
    }
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // First: a refusal inside the protocol answers with what is left of the offered subprotocols.
    const readKey = hideKey(request);
    const { path: target, query } = readTarget(request);
    const { prefix, path } = splitPrefix(target);
    const door = doors.get(path);
    const requestId = randomUUID();
    const gone = new AbortController();
    socket.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, stopping.signal]);
    const headers: Record<string, string> = {
      'x-request-id': requestId,
      ...(door?.api === 'deepgram' ? { 'dg-request-id': requestId } : {}),
    };
    const ignored = new IgnoredParameters(([name, value]) => (headers[name] = value));
    let accepted: ClientSocket | null = null;
    const accept = async (): Promise<ClientSocket> => {
      accepted ??= await openSocket({ websockets, request, socket, head, headers });
      return accepted;
    };
    let entry: Entry | null = null;
    try {
      if (door?.connect === undefined) throw NOT_FOUND;
      entry = enter(request);
      if (request.headers.origin !== undefined) throw FROM_A_PAGE;
      if (isDraining) throw DRAINING;
      const caller = await entry.identify(readKey(), signal);
      metrics.count('svc_compatible_requests_total', { door: door.name });
      const ignore = (name: string): void => ignored.add(name);
      const admitted = { request, requestId, path, query, prefix, caller, signal, ignore };
      await door.connect({ ...admitted, accept }, context);
    } catch (error) {
      const refusal = report(error, signal);
      const isInside = door?.refusesInside?.(request) ?? true;
      // Not if there are too many: a socket that is told why it is refused lives on for a moment, and counts until it ends.
      if (door?.refuseSocket !== undefined && isInside && entry !== null && !socket.destroyed) {
        const refused = await accept();
        door.refuseSocket(refused, refusal);
        await refused.closed;
      } else if (accepted === null) {
        endSocket(socket, rawRefusal({ refusal, door, requestId }));
      } else socket.destroy();
    } finally {
      entry?.leave();
    }
  }

  function report(error: unknown, signal: AbortSignal): Refusal {
    const refusal = toRefusal(error);
    if (signal.aborted) return refusal;
    metrics.count('svc_compatible_refusals_total', { reason: refusal.reason });
    if (refusal.status === 500) {
      // The type only: a message could hold input.
      const kind = error instanceof Error ? error.name : typeof error;
      const message = `A request failed unexpectedly (${kind}).`;
      input.log({ level: 'error', code: 'internal_error', message });
    }
    return refusal;
  }

  const listener = guarded(answer);
  const options = {
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
  };
  const server =
    config.tls === null
      ? createServer(options, listener)
      : createTlsServer({ ...options, ...config.tls }, listener);
  guardHttpServer(server);
  server.requestTimeout = REQUEST_MS_MAX;
  server.maxConnections = limits.connections * 2;
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgrade(request, socket, head).catch(() => socket.destroy());
  });
  const port = await listen(server, config.port, config.host);

  async function stop(): Promise<void> {
    isDraining = true;
    stopping.abort();
    for (const websocket of websockets.clients) websocket.close(1012, 'service_restart');
    server.close();
    const deadlineMs = performance.now() + KEEP_ALIVE_MS;
    while (!callers.isEmpty && performance.now() < deadlineMs) await sleep(DRAIN_LOOK_MS);
    for (const websocket of websockets.clients) websocket.terminate();
    server.closeAllConnections();
  }
  return {
    url: `${config.tls === null ? 'http' : 'https'}://${config.host}:${port}`,
    metrics,
    stop,
    async drain(msMax) {
      isDraining = true;
      const deadlineMs = performance.now() + msMax;
      while (!callers.isEmpty && performance.now() < deadlineMs) await sleep(DRAIN_LOOK_MS);
      await stop();
    },
  };
}

function handlerOf(door: Door, method: string): NonNullable<NonNullable<Door['handle']>['GET']> {
  const handle = method === 'GET' || method === 'POST' ? door.handle?.[method] : undefined;
  if (handle !== undefined) return handle;
  if (door.handle !== undefined) throw WRONG_METHOD;
  throw badRequest(
    'upgrade_required',
    'This endpoint is a WebSocket. Open it with ws:// or wss://.',
  );
}

function writeMetrics(
  request: IncomingMessage,
  response: ServerResponse,
  input: { readonly metrics: CompatibleMetrics; readonly token: string },
): void {
  if (!hasBearer(request, input.token)) return void response.writeHead(401).end();
  response.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8');
  response.end(input.metrics.text());
}

interface Refused {
  readonly refusal: Refusal;
  readonly door: Door | undefined;
  readonly requestId: string;
}

function writeRefusal(response: ServerResponse, { refusal, door, requestId }: Refused): void {
  const api = door?.api ?? 'openai';
  const body = JSON.stringify(errorBody(api, refusal, requestId));
  response.writeHead(refusal.status, errorHeaders(api, refusal, requestId));
  response.end(body);
}

/** Many clients read the answer only after they have sent the whole file, so the rest of it is read for a while. */
function discardBody(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  const timer = setTimeout(() => request.destroy(), DISCARD_MS_MAX);
  request.once('close', () => clearTimeout(timer));
}

/** The response to a refused handshake. */
function rawRefusal({ refusal, door, requestId }: Refused): string {
  const api = door?.api ?? 'openai';
  const body = JSON.stringify(errorBody(api, refusal, requestId));
  const headers = {
    ...errorHeaders(api, refusal, requestId),
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${refusal.status} Refused\r\n${lines.join('')}\r\n${body}`;
}

async function openSocket(input: {
  readonly websockets: WebSocketServer;
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}): Promise<ClientSocket> {
  const { websockets, request, socket, head } = input;
  const lines = Object.entries(input.headers).map(([name, value]) => `${name}: ${value}`);
  const addHeaders = (all: string[], from: IncomingMessage): void => {
    if (from === request) all.push(...lines);
  };
  websockets.on('headers', addHeaders);
  try {
    return await new Promise<ClientSocket>((resolve, reject) => {
      socket.once('close', () => reject(badRequest('client_gone', 'The client has left.')));
      websockets.handleUpgrade(request, socket, head, (websocket) =>
        resolve(new ClientSocket(websocket)),
      );
    });
  } finally {
    websockets.off('headers', addHeaders);
  }
}
