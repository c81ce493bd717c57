import { randomBytes, randomInt } from 'node:crypto';
import { rawFrame, textFrame } from '@svc-asr/testing/service/raw-frame.ts';
import { numbers } from '../service/concurrency.ts';

/** Bytes to send, and what the client does afterwards. */
export interface Attack {
  readonly name: string;
  readonly bytes: Buffer;
  /**
   * `reset` sends RST right after the bytes, `reset_after_answer` after the first bytes of the answer, `half_close` sends
   * FIN, and `wait` reads the answer.
   */
  readonly ending: Ending;
}

type Ending = 'wait' | 'half_close' | 'reset' | 'reset_after_answer';

const ENDINGS: readonly Ending[] = ['wait', 'half_close', 'reset', 'reset_after_answer'];

/** Request targets that a URL parser, a router or a log may stumble over. */
const TARGETS = [
  '/',
  '//',
  '///',
  '//[',
  '//:99999',
  '/\\',
  '/%',
  '/%E0%A4%A',
  '/..//..%2f',
  '/?%',
  '/?a=%ff&a[__proto__]=1',
  '*',
  'http://',
  'http://[',
  'http://[::1',
  'https://x:99999/',
  'x:443',
  'javascript:alert(1)',
  '/__proto__',
  '/constructor/token',
  '/twilio/wrong',
  '/jambonz/wrong',
  '/freeswitch/wrong?rate=1&channels=2',
  '/v1/asr/stream',
  '/v1/asr/sessions',
  '/metrics',
  '/faults',
  `/${'a'.repeat(7_000)}`,
  `/${'a'.repeat(20_000)}`,
  '/\u0000',
  '/\u00ff\u00fe',
];
const METHODS = ['GET', 'POST', 'HEAD', 'OPTIONS', 'CONNECT', 'DELETE', 'BREW'];
const UPGRADE =
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const HEADERS = [
  UPGRADE,
  '',
  'Upgrade: websocket\r\n',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n',
  UPGRADE.replace('dGhlIHNhbXBsZSBub25jZQ==', 'x'),
  UPGRADE.replace('13', '99'),
  `${UPGRADE}Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=99\r\n`,
  `${UPGRADE}Sec-WebSocket-Protocol: ,,a,a,\u00ff\r\n`,
  `${UPGRADE}Authorization: Bearer\r\nOrigin: null\r\n`,
  'Expect: 100-continue\r\nContent-Length: 10\r\n',
  'Expect: else\r\n',
  'Content-Length: 5\r\nContent-Length: 6\r\n',
  'Content-Length: -1\r\n',
  'Transfer-Encoding: chunked\r\nContent-Length: 3\r\n',
  'Transfer-Encoding: chunked\r\n',
  'X-Hub-Signature-256: sha256=00\r\nContent-Length: 2\r\n',
  `X: ${'y'.repeat(100_000)}\r\n`,
];
const BODIES = ['', '{}', '{"', 'zzz\r\n', 'ffffffff\r\n\r\n', '0\r\n\r\n', '[]'];

function head(method: string, target: string, headers: string): Buffer {
  return Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`, 'latin1');
}

/** `headers` are further lines, each with its line break. */
export function upgradeTo(path: string, headers = ''): Buffer {
  return head('GET', path, UPGRADE + headers);
}

/** Every target as a plain request and as an upgrade, with every ending. */
export function hostileRequests(): Attack[] {
  return TARGETS.flatMap((target) =>
    [UPGRADE, ''].flatMap((headers) =>
      ENDINGS.map((ending) => ({
        name: `${headers === '' ? 'GET' : 'upgrade'} ${target.slice(0, 40)}`,
        bytes: head('GET', target, headers),
        ending,
      })),
    ),
  );
}

/** Combinations of method, target, headers and body, some with changed bytes. */
export function randomRequest(): Attack {
  const method = pick(METHODS);
  const target = pick(TARGETS);
  const body = Buffer.from(pick(BODIES));
  const bytes = Buffer.concat([head(method, target, pick(HEADERS)), body]);
  if (randomInt(2) === 0) for (const _ of numbers(1 + randomInt(4))) change(bytes);
  return { name: `random ${method} ${target.slice(0, 40)}`, bytes, ending: pick(ENDINGS) };
}

/** A valid message, cut after every byte, or every few bytes, by a reset or a FIN. */
export function cutEverywhere(name: string, bytes: Buffer, step = 1): Attack[] {
  return numbers(Math.ceil(bytes.byteLength / step) + 1).map((at) => ({
    name: `${name} cut at byte ${at * step}`,
    bytes: bytes.subarray(0, at * step),
    ending: at % 4 === 3 ? 'half_close' : 'reset',
  }));
}

export function post(path: string): Buffer {
  const type = 'Content-Type: application/json\r\n';
  return Buffer.concat([head('POST', path, `${type}Content-Length: 2\r\n`), Buffer.from('{}')]);
}

/** No HTTP at all: noise, an HTTP/2 preface, a TLS handshake without TLS. */
export function noise(): Attack {
  const starts = ['', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '\u0016\u0003\u0001', 'PROXY TCP4 \r\n'];
  const bytes = Buffer.concat([
    Buffer.from(pick(starts), 'latin1'),
    randomBytes(1 + randomInt(300)),
  ]);
  return { name: 'noise', bytes, ending: pick(ENDINGS) };
}

/** A TLS client's first message with changed bytes. */
export function brokenHello(hello: Buffer): Attack {
  const bytes = Buffer.from(hello);
  for (const _ of numbers(1 + randomInt(4))) change(bytes);
  return { name: 'broken TLS handshake', bytes, ending: pick(ENDINGS) };
}

/** Valid HTTP/2 frames with one changed byte, after the preface. */
export function http2Noise(): Attack {
  const frames = Buffer.concat(numbers(1 + randomInt(6)).map(http2Frame));
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0', 'latin1');
  return { name: 'HTTP/2 frames', bytes: Buffer.concat([preface, frames]), ending: pick(ENDINGS) };
}

function http2Frame(): Buffer {
  const payload = randomBytes(randomInt(64));
  const header = Buffer.alloc(9);
  header.writeUIntBE(randomInt(20) === 0 ? 0xff_ff_ff : payload.byteLength, 0, 3);
  header[3] = randomInt(12);
  header[4] = randomInt(256);
  header.writeUInt32BE(randomInt(4), 5);
  return Buffer.concat([header, payload]);
}

const VALUES = ['0', '1', '-1', '383999', '48000', '1e308', '0.5', '"8000"', 'null', '{}', '[]'];
const MESSAGES = [
  (value: string) => `{"type":"start","language":"ki-KE","sampleRateHz":${value}}`,
  (value: string) => `{"type":"start","language":${value},"options":${value}}`,
  (value: string) => `{"event":"start","start":{"callSid":${value},"tracks":[${value}]}}`,
  (value: string) => `{"event":"start","start":{"callSid":"CA1","mediaFormat":${value}}}`,
  (value: string) => `{"event":"media","media":{"track":"inbound","payload":${value}}}`,
  (value: string) => `{"event":"dtmf","dtmf":${value}}`,
  (value: string) => `{"uuid":${value},"sampleRate":${value},"channels":2}`,
  (value: string) => `{"type":"stop","event":"stop","reason":${value}}`,
  (value: string) => `{"type":"Configure","keyterms":${value},"features":${value}}`,
  (value: string) => `{"type":${value}}`,
  () => '{"type":"Finalize"}',
  () => '{"type":"KeepAlive"}',
  () => '{"type":"CloseStream"}',
  () => '{"type":',
  (value: string) => value,
];

/** A media socket that opens and then sends hostile messages, audio and broken frames. */
export function hostileCall(path: string, headers = ''): Attack {
  const frames = numbers(1 + randomInt(8)).map(hostileFrame);
  return {
    name: `call to ${path}`,
    bytes: Buffer.concat([upgradeTo(path, headers), ...frames]),
    ending: pick(ENDINGS),
  };
}

function hostileFrame(): Buffer {
  switch (randomInt(9)) {
    case 0:
      return rawFrame({ opcode: 2, payload: randomBytes(randomInt(2_000)) });
    case 1:
      return rawFrame({ opcode: randomInt(16), payload: randomBytes(randomInt(130)) });
    case 2:
      return rawFrame({ opcode: 1, payload: randomBytes(20), mask: false });
    case 3:
      return Buffer.from([0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    case 4:
      return fragments(Buffer.from(pick(MESSAGES)(pick(VALUES))));
    default:
      return textFrame(pick(MESSAGES)(pick(VALUES)));
  }
}

/** A message in pieces, some without an end. */
function fragments(message: Buffer): Buffer {
  const middle = randomInt(message.byteLength);
  const first = rawFrame({
    opcode: randomInt(3),
    payload: message.subarray(0, middle),
    fin: false,
  });
  const rest = rawFrame({ opcode: 0, payload: message.subarray(middle), fin: randomInt(3) > 0 });
  return Buffer.concat([first, rest]);
}

/** AudioSocket messages of any kind, order and length, with or without the call's UUID. */
export function hostileAudioSocket(): Attack {
  const kinds = [0x00, 0x01, 0x03, 0x10, 0x12, 0x16, 0xff, randomInt(256)];
  const parts = numbers(1 + randomInt(6)).map(() =>
    audioSocketMessage(pick(kinds), randomBytes(randomInt(700))),
  );
  if (randomInt(2) === 0) parts.unshift(audioSocketMessage(0x01, randomBytes(16)));
  return { name: 'AudioSocket messages', bytes: Buffer.concat(parts), ending: pick(ENDINGS) };
}

export function audioSocketMessage(kind: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(3);
  header[0] = kind;
  header.writeUInt16BE(payload.byteLength, 1);
  return Buffer.concat([header, payload]);
}

function change(bytes: Buffer): void {
  bytes[randomInt(bytes.byteLength)] = randomInt(256);
}

function pick<T>(items: readonly [T, ...T[]] | readonly T[]): T {
  const item = items[randomInt(items.length)];
  if (item === undefined) throw new Error('The list is empty.');
  return item;
}
