import type { IncomingMessage } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { canStart, FFMPEG_MISSING } from '@svc-asr/runtime/audio-sandbox.ts';
import { endSocket } from '@svc-asr/runtime/end-socket.ts';
import { listen } from '@svc-asr/runtime/listen.ts';
import { hasBearer, isSame } from '@svc-asr/runtime/server-access.ts';
import { guardServer, readTarget } from '@svc-asr/runtime/server-guard.ts';
import { WebSocketServer, type WebSocket } from 'ws';
import { AllowList, isSignedByTwilio } from './access.ts';
import { AnnouncedLegs } from './protocols/announced-legs.ts';
import { serveAsterisk } from './protocols/asterisk.ts';
import { serveAudioFork } from './protocols/audio-fork.ts';
import { serveAudioSocket } from './protocols/audio-socket.ts';
import { checkExposure, withSafeCallbacks, type BridgeOptions } from './bridge-options.ts';
import { Calls } from './calls.ts';
import { serveJambonz } from './protocols/jambonz.ts';
import { ClientSocket } from '@svc-asr/runtime/client-socket.ts';
import { BridgeMetrics } from './metrics.ts';
import { createPages } from './pages.ts';
import { serveTwilio } from './protocols/twilio.ts';
import { Recordings } from './recordings/recordings.ts';

export interface Bridge {
  readonly url: string;
  /** Null if AudioSocket is off. */
  readonly audioSocketPort: number | null;
  readonly metrics: BridgeMetrics;
  /** Refuses new calls and recordings and waits for the current ones to end, at most this long. Then stops. */
  drain(msMax: number): Promise<void>;
  /** Hangs up all calls, waits for their last finals and closes the ports. */
  stop(): Promise<void>;
}

const FRAME_BYTES_MAX = 256 * 1024;
const CONNECTIONS_MAX = 2_000;
/** A call without a byte for this long has lost its caller. */
const IDLE_MS_MAX = 300_000;
const DRAIN_LOOK_MS = 100;
const PROTOCOLS = {
  twilio: serveTwilio,
  freeswitch: serveAudioFork,
  jambonz: serveJambonz,
  asterisk: serveAsterisk,
} as const;
type Protocol = keyof typeof PROTOCOLS;

/** Asterisk offers `media` if its websocket_client.conf says so. */
const SUBPROTOCOLS = ['audio.drachtio.org', 'media'];

/** Refusals before a call starts. */
const REFUSALS = {
  not_found: {
    status: '404 Not Found',
    message: 'A call had an unknown path or a wrong token.',
  },
  wrong_signature: {
    status: '403 Forbidden',
    message:
      'A call to /twilio had no valid X-Twilio-Signature. If Twilio sent it, check TWILIO_AUTH_TOKEN and --public-url.',
  },
  not_allowed: {
    status: '403 Forbidden',
    message: 'A connection to AudioSocket came from an address that is not allowed.',
  },
  busy: {
    status: '503 Service Unavailable',
    message: 'A call was refused: 1,000 calls are connected.',
  },
  draining: {
    status: '503 Service Unavailable',
    message: 'A call was refused: the bridge is shutting down.',
  },
} as const;
type Refusal = keyof typeof REFUSALS;

/** One process for all telephone systems: each call leg becomes one stream of the service. */
export async function startBridge(given: BridgeOptions): Promise<Bridge> {
  checkExposure(given);
  const options = withSafeCallbacks(given);
  const { host = '127.0.0.1', audioSocket = null, recordings: recordingOptions = null } = options;
  const metrics = new BridgeMetrics();
  const calls = new Calls(options, metrics);
  let isDraining = false;
  metrics.gauge('svc_telephony_draining', () => (isDraining ? 1 : 0));

  const websockets = new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_BYTES_MAX,
    autoPong: false,
    handleProtocols: (offered) => SUBPROTOCOLS.find((name) => offered.has(name)) ?? false,
  });
  const announced = new AnnouncedLegs();
  const recordings =
    recordingOptions === null
      ? null
      : new Recordings({
          options,
          recordings: recordingOptions,
          metrics,
          refuse: (code, message) => calls.refuse(code, message),
        });
  const canDecode =
    recordingOptions === null || (await canStart(recordingOptions.ffmpeg ?? 'ffmpeg'));
  if (!canDecode) {
    const notice = { level: 'warning', code: 'ffmpeg_missing', message: FFMPEG_MISSING } as const;
    options.onNotice?.(notice);
  }
  const http = createPages({
    metrics,
    metricsToken: options.metricsToken ?? null,
    isDraining: () => isDraining,
    notice: canDecode ? '' : `${FFMPEG_MISSING}\n`,
    isCallPath: (path) => isProtocol(path.split('/')[1] ?? ''),
    isAdmitted: (request) => hasToken(request, options),
    forms: {
      audiosocket: (form) => announced.announce(form),
      ...(recordings !== null && {
        recordings: (form) => (isDraining ? { status: 503 } : recordings.take(form)),
      }),
    },
  });
  http.maxConnections = CONNECTIONS_MAX;
  http.on('upgrade', (request, socket: Socket, head) => {
    const asked = isDraining ? 'draining' : calls.isFull ? 'busy' : admit(request, options);
    if (typeof asked === 'string') {
      calls.refuse(asked, REFUSALS[asked].message);
      endSocket(socket, `HTTP/1.1 ${REFUSALS[asked].status}\r\nConnection: close\r\n\r\n`);
      return;
    }
    websockets.handleUpgrade(request, socket, head, (websocket: WebSocket) => {
      const close = (): void => websocket.close(1008, 'no_start');
      const { context, onClosed } = calls.connect(asked.protocol, { query: asked.query, close });
      websocket.once('close', onClosed);
      socket.setTimeout(IDLE_MS_MAX, () => websocket.terminate());
      PROTOCOLS[asked.protocol](new ClientSocket(websocket), context);
    });
  });
  const port = await listen(http, options.port, host);
  const tcp =
    audioSocket === null
      ? null
      : createAudioSocketServer(calls, audioSocket.allow ?? [], announced);
  const audioSocketPort =
    audioSocket === null || tcp === null
      ? null
      : await listen(tcp, audioSocket.port, audioSocket.host);
  const sockets = tcp === null ? new Set<Socket>() : track(tcp);

  async function stop(): Promise<void> {
    isDraining = true;
    tcp?.close();
    await Promise.all([calls.hangUpAll(), recordings?.stop()]);
    for (const websocket of websockets.clients) websocket.terminate();
    for (const socket of sockets) socket.destroy();
    http.close();
    http.closeAllConnections();
  }
  return {
    url: `ws://${host}:${port}`,
    audioSocketPort,
    metrics,
    stop,
    async drain(msMax) {
      isDraining = true;
      tcp?.close();
      const deadlineMs = performance.now() + msMax;
      for (const work of [calls, ...(recordings === null ? [] : [recordings])]) {
        while (!work.isEmpty && performance.now() < deadlineMs) await sleep(DRAIN_LOOK_MS);
      }
      await stop();
    },
  };
}

function createAudioSocketServer(
  calls: Calls,
  allow: readonly string[],
  announced: AnnouncedLegs,
): Server {
  const allowed = allow.length === 0 ? null : new AllowList(allow);
  const server = createTcpServer((socket) => {
    const isAllowed = allowed === null || allowed.has(socket.remoteAddress ?? '');
    if (!isAllowed || calls.isFull) {
      const refusal = isAllowed ? 'busy' : 'not_allowed';
      calls.refuse(refusal, REFUSALS[refusal].message);
      socket.destroy();
      return;
    }
    const close = (): void => void socket.destroy();
    const query = new URLSearchParams();
    const { context, onClosed } = calls.connect('audiosocket', { query, close });
    // The socket's own timeout would also count the frames that the bridge sends.
    const idle = setTimeout(close, IDLE_MS_MAX);
    socket.on('data', () => idle.refresh());
    socket.once('close', () => {
      clearTimeout(idle);
      onClosed();
    });
    serveAudioSocket(socket, context, (uuid) => announced.take(uuid));
  });
  guardServer(server);
  server.maxConnections = CONNECTIONS_MAX;
  return server;
}

interface Asked {
  readonly protocol: Protocol;
  readonly query: URLSearchParams;
}

/** `/twilio`, `/freeswitch?rate=16000`, `/jambonz`, `/asterisk?call=1&leg=caller`; with a token, `/twilio/TOKEN`. Returns why it is refused. */
function admit(request: IncomingMessage, options: BridgeOptions): Asked | Refusal {
  const { twilioAuthToken = null, publicUrl = null } = options;
  const { path, query } = readTarget(request);
  const [, protocol = ''] = path.split('/');
  if (!hasToken(request, options)) return 'not_found';
  if (!isProtocol(protocol)) return 'not_found';
  const isSigned =
    protocol !== 'twilio' ||
    twilioAuthToken === null ||
    isSignedByTwilio(request, { authToken: twilioAuthToken, publicUrl });
  return isSigned ? { protocol, query } : 'wrong_signature';
}

function hasToken(request: IncomingMessage, { token = null }: BridgeOptions): boolean {
  const [, , inPath = ''] = readTarget(request).path.split('/');
  return token === null || isSame(inPath, token) || hasBearer(request, token);
}

function isProtocol(name: string): name is Protocol {
  return Object.hasOwn(PROTOCOLS, name);
}

function track(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}
