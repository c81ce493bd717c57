import { once } from 'node:events';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Target } from '../bridge-fuzz/targets.ts';

/** Text of a stranger that a program reads: a kind of request with room for so many bytes. */
export interface Input {
  readonly name: string;
  /** The longest text that the limits let through. */
  readonly bytesMax: number;
  /** Sends the text and waits until it was read. */
  send(text: string): Promise<void>;
}

/** Requests with longer heads are refused. The rest of the 8 KiB is for what every request has. */
const HEAD_BYTES = 6 * 1024;
const BODY_BYTES = 32 * 1024;
const ANSWER_MS_MAX = 20_000;

const HEADERS = [
  'Host',
  'Authorization',
  'Cookie',
  'Origin',
  'Content-Type',
  'Accept',
  'Accept-Language',
  'Accept-Encoding',
  'X-Forwarded-For',
  'Idempotency-Key',
  'If-None-Match',
  'Traceparent',
  'Sec-WebSocket-Protocol',
];
/** Routes that read a body, in any of the programs. */
const ROUTES = [
  '/v1/asr/sessions',
  '/v1/audio/transcriptions',
  '/v1/listen',
  '/webhook',
  '/faults',
];
const TYPES = ['application/json', 'multipart/form-data; boundary=x', 'audio/wav'];

/** Everything that a stranger can send to an HTTP port, or with the target's key. */
export function inputsOf(target: Target): Input[] {
  const client = new Client(target);
  const head = (name: string, at: (text: string) => Parameters<Client['send']>[0]): Input => ({
    name,
    bytesMax: HEAD_BYTES,
    send: (text) => client.send(at(text)),
  });
  return [
    ...['/', '/docs', '/console', '/?', '/docs?'].map((start) =>
      head(`target ${start}`, (text) => ({ path: start + encodeSpaces(text) })),
    ),
    ...HEADERS.map((name) => head(name, (text) => ({ path: '/', headers: { [name]: text } }))),
    ...ROUTES.flatMap((path) =>
      TYPES.map((type) => ({
        name: `POST ${path} as ${type}`,
        bytesMax: BODY_BYTES,
        send: (text: string) =>
          client.send({ path, headers: { 'Content-Type': type }, body: bodyOf(type, text) }),
      })),
    ),
    ...target.calls.map((path) => ({
      name: `message to ${path.split('?')[0]}`,
      bytesMax: BODY_BYTES,
      send: (text: string) => sendMessage(target, path, `{"type":${JSON.stringify(text)}}`),
    })),
  ];
}

function bodyOf(type: string, text: string): string {
  if (type === 'application/json') return `{"model":${JSON.stringify(text)}}`;
  if (type === 'audio/wav') return text;
  const head = `--x\r\nContent-Disposition: form-data; name="model"; filename="${text}"\r\n\r\n`;
  return `${head}${text}\r\n--x--\r\n`;
}

/** Node's client refuses spaces in a target. */
function encodeSpaces(text: string): string {
  return text.replaceAll(' ', '%20');
}

class Client {
  readonly #target: Target;
  readonly #agent: HttpAgent;

  constructor(target: Target) {
    this.#target = target;
    const options = { keepAlive: true, maxSockets: 1 };
    this.#agent = target.tls === null ? new HttpAgent(options) : new HttpsAgent(options);
  }

  /** A refusal or a closed connection is an answer too. */
  async send(input: {
    path: string;
    headers?: Readonly<Record<string, string>>;
    body?: string;
  }): Promise<void> {
    const { port, tls, headers } = this.#target;
    const request = (tls === null ? httpRequest : httpsRequest)({
      ...tls,
      port,
      host: '127.0.0.1',
      agent: this.#agent,
      method: input.body === undefined ? 'GET' : 'POST',
      path: input.path,
      headers: { ...(input.body === undefined ? {} : headersOf(headers)), ...input.headers },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    request.end(input.body);
    try {
      const [response]: IncomingMessage[] = await once(request, 'response');
      if (response !== undefined) for await (const _ of response);
    } catch {
      request.destroy();
    }
  }
}

function headersOf(lines = ''): Record<string, string> {
  return Object.fromEntries(
    lines
      .split('\r\n')
      .filter((line) => line !== '')
      .map((line) => line.split(': ', 2)),
  );
}

/** Sends one message to a media socket, and waits until the socket answers a ping or is closed. */
async function sendMessage(target: Target, path: string, message: string): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${target.port}${path}`, {
    headers: headersOf(target.headers),
  });
  socket.on('error', () => undefined);
  const answered = new Promise((resolve) => socket.once('pong', resolve).once('close', resolve));
  socket.once('open', () => {
    socket.send(message);
    socket.ping();
  });
  await Promise.race([answered, sleep(ANSWER_MS_MAX, undefined, { ref: false })]);
  socket.terminate();
}
