import { timingSafeEqual } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { guardHttpServer, guardServer, readTarget } from '@svc-asr/protocol/server-guard.ts';
import type { ModelId, SvcClient } from '@svc-asr/sdk';
import { WebSocketServer, type WebSocket } from 'ws';
import { serveAudioFork } from './audio-fork.ts';
import { serveAudioSocket } from './audio-socket.ts';
import { CallLeg, type CallEvent } from './call-leg.ts';
import { serveJambonz } from './jambonz.ts';
import { MediaSocket, type CallContext } from './media-socket.ts';
import { serveTwilio } from './twilio.ts';

export interface BridgeOptions {
  readonly client: SvcClient;
  readonly model: ModelId;
  readonly host?: string;
  /** For Twilio, FreeSWITCH and jambonz. Default, and 0: any free port. */
  readonly port?: number;
  /** For Asterisk. Default, and 0: any free port. */
  readonly audioSocketPort?: number;
  /** WebSockets must carry it: the last part of the path, or `Authorization: Bearer`. Null: no check. */
  readonly token?: string | null;
  /** How much silence ends an utterance. Default 700. */
  readonly silenceMs?: number;
  readonly onEvent: (event: CallEvent) => void;
}

export interface Bridge {
  readonly url: string;
  readonly audioSocketPort: number;
  /** Hangs up all calls, waits for their last finals and closes the ports. */
  stop(): Promise<void>;
}

const FRAME_BYTES_MAX = 256 * 1024;
const CALLS_MAX = 1_000;
const PROTOCOLS = {
  twilio: serveTwilio,
  freeswitch: serveAudioFork,
  jambonz: serveJambonz,
} as const;

/** One process for all telephone systems: each call leg becomes one stream of the service. */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { host = '127.0.0.1' } = options;
  const legs = new Set<CallLeg>();
  const context = (query: URLSearchParams): CallContext => ({
    query,
    openLeg: (format) => openLeg(options, legs, format),
  });

  const websockets = new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_BYTES_MAX,
    handleProtocols: (offered) =>
      offered.has('audio.drachtio.org') ? 'audio.drachtio.org' : false,
  });
  const http = createHttpServer((_, response) => response.writeHead(426).end());
  guardHttpServer(http);
  http.on('upgrade', (request, socket: Socket, head) => {
    const asked = read(request, options.token ?? null);
    if (asked === null || legs.size >= CALLS_MAX) {
      socket.end(`HTTP/1.1 ${asked === null ? '404 Not Found' : '503 Busy'}\r\n\r\n`);
      return;
    }
    websockets.handleUpgrade(request, socket, head, (websocket: WebSocket) => {
      PROTOCOLS[asked.protocol](new MediaSocket(websocket), context(asked.query));
    });
  });
  const tcp = createTcpServer((socket) => {
    if (legs.size >= CALLS_MAX) socket.destroy();
    else serveAudioSocket(socket, context(new URLSearchParams()));
  });
  guardServer(tcp);
  const sockets = track(tcp);
  const port = await listen(http, host, options.port ?? 0);
  const audioSocketPort = await listen(tcp, host, options.audioSocketPort ?? 0);
  return {
    url: `ws://${host}:${port}`,
    audioSocketPort,
    async stop() {
      http.close();
      tcp.close();
      for (const leg of legs) leg.hangUp();
      await Promise.all([...legs].map((leg) => leg.ended));
      for (const websocket of websockets.clients) websocket.terminate();
      for (const socket of sockets) socket.destroy();
      http.closeAllConnections();
    },
  };
}

function openLeg(
  options: BridgeOptions,
  legs: Set<CallLeg>,
  format: Parameters<CallContext['openLeg']>[0],
): CallLeg {
  const { client, model } = options;
  const leg = new CallLeg({
    ...format,
    silenceMs: options.silenceMs ?? 700,
    getSession: ({ signal }) => client.sessions.create({ model, maxAudioSeconds: 300 }, { signal }),
    onEvent(event) {
      format.onEvent?.(event);
      options.onEvent(event);
    },
  });
  legs.add(leg);
  void leg.ended.then(() => legs.delete(leg));
  return leg;
}

interface Asked {
  readonly protocol: keyof typeof PROTOCOLS;
  readonly query: URLSearchParams;
}

/** `/twilio`, `/freeswitch?rate=16000`, `/jambonz`; with a token, `/twilio/TOKEN`. Null: not served. */
function read(request: IncomingMessage, token: string | null): Asked | null {
  const { path, query } = readTarget(request);
  const [, protocol = '', inPath = ''] = path.split('/');
  const inHeader = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
  if (token !== null && !isSame(inPath, token) && !isSame(inHeader, token)) return null;
  if (!isProtocol(protocol)) return null;
  return { protocol, query };
}

function isProtocol(name: string): name is keyof typeof PROTOCOLS {
  return Object.hasOwn(PROTOCOLS, name);
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}

function track(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
