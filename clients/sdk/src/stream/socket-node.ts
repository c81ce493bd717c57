import { createHash, randomBytes } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket as NetSocket } from 'node:net';
import { untrustedCertificate } from '../certificate.ts';
import { errorFromResponse, SvcError } from '../errors.ts';
import { encodeFrame, FrameReader, OPCODE } from './frames.ts';
import type { Connect, Socket, SocketHandlers } from './socket.ts';

/**
 * A WebSocket client for Node. Node's own hides why an upgrade was refused. This one reports the
 * HTTP error and the number of unsent bytes. It uses Node's global agent, so NODE_USE_ENV_PROXY=1 applies to it as to
 * `fetch`.
 */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const REFUSAL_BYTES_MAX = 16 * 1024;
/** The server pings every 20 s. */
const SILENCE_MS_MAX = 65_000;

export const connect: Connect = (address, handlers) => {
  const url = new URL(address.url);
  const nonce = randomBytes(16).toString('base64');
  const once = endOnce(handlers);
  let live: Socket | null = null;
  const request = (url.protocol === 'wss:' ? httpsRequest : httpRequest)({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port || (url.protocol === 'wss:' ? 443 : 80),
    path: `${url.pathname}${url.search}`,
    headers: {
      host: url.host,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': nonce,
      'sec-websocket-protocol': address.protocols.join(', '),
    },
  });
  request.on('error', (error) => once.refused(unreachable(error)));
  request.on('response', (response) => {
    void readRefusal(response).then((refusal) => once.refused(refusal));
  });
  request.on('upgrade', (response, socket: NetSocket, head) => {
    if (!isExpectedUpgrade(response, nonce, address.protocols)) {
      socket.destroy();
      once.lost();
      return;
    }
    // Bytes that came with the 101 are read after the listeners are added.
    if (head.byteLength > 0) socket.unshift(head);
    live = openFrames(socket, once);
    handlers.onOpen();
  });
  request.end();
  return {
    send(data) {
      if (live === null) throw new Error('The socket is not open yet.');
      live.send(data);
    },
    close() {
      if (live === null) this.drop();
      else live.close();
    },
    drop() {
      once.lost();
      live?.drop();
      request.destroy();
    },
    get bufferedBytes() {
      return live?.bufferedBytes ?? 0;
    },
  };
};

/** There was no HTTP response: names the network error. */
function unreachable(error: NodeJS.ErrnoException): SvcError {
  return (
    untrustedCertificate(error) ??
    new SvcError({
      code: 'connection_failed',
      message: `The stream could not be opened (${error.code ?? 'unknown'}). Check the network.`,
      retryable: true,
      cause: error,
    })
  );
}

interface Ending {
  readonly handlers: SocketHandlers;
  isOver(): boolean;
  lost(): void;
  refused(refusal: SvcError): void;
  closed(code: number, reason: string): void;
}

function endOnce(handlers: SocketHandlers): Ending {
  let over = false;
  const end = (code: number, reason: string, refusal: SvcError | null): void => {
    if (over) return;
    over = true;
    handlers.onEnd({ code, reason, refusal });
  };
  return {
    handlers,
    isOver: () => over,
    lost: () => end(1006, '', null),
    refused: (refusal) => end(1006, '', refusal),
    closed: (code, reason) => end(code, reason, null),
  };
}

function isExpectedUpgrade(
  response: IncomingMessage,
  nonce: string,
  protocols: readonly string[],
): boolean {
  const accept = createHash('sha1').update(`${nonce}${ACCEPT_SUFFIX}`).digest('base64');
  return (
    response.headers['sec-websocket-accept'] === accept &&
    response.headers['sec-websocket-protocol'] === protocols[0]
  );
}

async function readRefusal(response: IncomingMessage): Promise<SvcError> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      bytes += part.byteLength;
      if (bytes > REFUSAL_BYTES_MAX) break;
      parts.push(part);
    }
  } catch {
    // An incomplete response still has its status.
  }
  const { headers } = response;
  return errorFromResponse({
    status: response.statusCode ?? 0,
    body: parseJson(Buffer.concat(parts).toString('utf8')),
    requestId: headers['x-request-id']?.toString() ?? null,
    retryAfter: headers['retry-after'] ?? null,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function openFrames(socket: NetSocket, once: Ending): Socket {
  const reader = new FrameReader();
  let closing = false;
  // After its own close frame the client waits for the server's.
  const sendClose = (code: number): void => {
    if (closing) return;
    closing = true;
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    socket.write(encodeFrame(OPCODE.close, payload));
  };
  const onBytes = (bytes: Buffer): void => {
    if (once.isOver()) return;
    for (const frame of reader.push(bytes)) {
      switch (frame.kind) {
        case 'text':
          once.handlers.onText(frame.text);
          break;
        case 'ping':
          if (!closing) socket.write(encodeFrame(OPCODE.pong, frame.payload));
          break;
        case 'close':
          sendClose(1000);
          socket.end();
          once.closed(frame.code, frame.reason);
          return;
        case 'violation':
          sendClose(1002);
          socket.end();
          once.closed(1002, 'protocol_error');
          return;
        case 'ignored':
          break;
      }
    }
  };
  socket.setNoDelay(true);
  socket.setTimeout(SILENCE_MS_MAX, () => socket.destroy());
  socket.on('data', onBytes);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => once.lost());
  return {
    send(data) {
      if (closing || socket.destroyed) return;
      const opcode = typeof data === 'string' ? OPCODE.text : OPCODE.binary;
      socket.write(encodeFrame(opcode, typeof data === 'string' ? Buffer.from(data) : data));
    },
    close: () => sendClose(1000),
    drop: () => socket.destroy(),
    get bufferedBytes() {
      return socket.writableLength;
    },
  };
}
