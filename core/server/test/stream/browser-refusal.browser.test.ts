import { connect, type Socket } from 'node:net';
import { SUBPROTOCOL, type AsrSession } from '@svc-asr/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { setAccountStatus } from '../../src/accounts/accounts.ts';
import type { ForeignClient } from '@svc-asr/testing/service/foreign-client.ts';
import { chromiumClient } from '@svc-asr/testing/service/foreign-clients.ts';
import {
  KIKUYU,
  startService,
  type Service,
  type ServiceOptions,
} from '@svc-asr/testing/service/service.ts';
import { rawFrame } from '@svc-asr/testing/service/raw-frame.ts';
import { refused, StreamClient } from '@svc-asr/testing/service/stream-client.ts';

/** A browser cannot see the response to a refused upgrade, so it gets the reason as an event and a close code. */

let browser: ForeignClient;
beforeAll(async () => {
  browser = await chromiumClient();
});
afterAll(() => browser.stop());

interface Scene {
  readonly closeCode: number;
  readonly code: string;
  readonly options?: ServiceOptions;
  /** Returns the subprotocols that the page offers. */
  readonly arrange: (svc: Service, session: AsrSession) => Promise<readonly string[]>;
}

const SCENES: readonly Scene[] = [
  {
    closeCode: 4400,
    code: 'unsupported_subprotocol',
    arrange: async (_, { websocket_protocols: both }) => [...both, 'svc.auth.another'],
  },
  {
    closeCode: 4401,
    code: 'invalid_session_credential',
    arrange: async () => [SUBPROTOCOL, 'svc.auth.wrong'],
  },
  {
    closeCode: 4401,
    code: 'session_credential_used',
    arrange: async (svc, session) => {
      await StreamClient.ready(session, { url: svc.streamUrl });
      return session.websocket_protocols;
    },
  },
  {
    closeCode: 4403,
    code: 'account_inactive',
    arrange: async (svc, session) => {
      await setAccountStatus(svc.database.pool, { id: svc.accountId, status: 'suspended' });
      return session.websocket_protocols;
    },
  },
  {
    closeCode: 4429,
    code: 'request_rate_exceeded',
    options: { env: { RATE_FAILED_UPGRADES: '1' } },
    arrange: async (svc) => {
      const wrong = [SUBPROTOCOL, 'svc.auth.wrong'];
      await refused(svc.streamUrl, wrong);
      return wrong;
    },
  },
  {
    closeCode: 4503,
    code: 'capacity_exceeded',
    options: { capacity: 1 },
    arrange: async (svc, session) => {
      const other = await svc.addTenant({ creditMs: 60_000 });
      const { body } = await svc.createSession({ model: KIKUYU }, other);
      await StreamClient.ready(body, { url: svc.streamUrl });
      return session.websocket_protocols;
    },
  },
];

test.each(SCENES)('Chromium sees $code as an error event and close $closeCode', async (scene) => {
  const svc = await startService({ script: { texts: ['nĩ wega'] }, ...scene.options });
  const { body: session } = await svc.createSession();
  const offered = await scene.arrange(svc, session);
  const stream = await browser.open(svc.streamUrl, offered);
  const close = await stream.closed;
  expect(close).toMatchObject({ code: scene.closeCode, reason: scene.code });
  expect(close.waitedMs).toBeLessThan(1_000);
  const isRetryable = scene.closeCode === 4429 || scene.closeCode === 4503;
  expect(close.events).toMatchObject([
    {
      type: 'error',
      code: scene.code,
      fatal: true,
      retryable: isRetryable,
      close_code: scene.closeCode,
    },
  ]);
  expect(close.events.some((event) => 'retry_after_ms' in event)).toBe(isRetryable);
  await svc.stop();
});

test('a refusal without capacity uses no credential and charges nothing', async () => {
  const svc = await startService({ script: { texts: ['nĩ wega'] }, capacity: 1 });
  const other = await svc.addTenant({ creditMs: 60_000 });
  const { body: first } = await svc.createSession({ model: KIKUYU }, other);
  const { body: session } = await svc.createSession();
  const blocker = await StreamClient.ready(first, { url: svc.streamUrl });
  const origin = 'https://app.example.com';
  const stream = await StreamClient.open(session, { url: svc.streamUrl, origin });
  expect(await stream.closed).toEqual({ code: 4503, reason: 'capacity_exceeded' });
  await blocker.close();
  const client = await StreamClient.ready(session, { url: svc.streamUrl, origin });
  await client.close();
  expect((await svc.usage()).body.consumed_ms).toBe(0);
  await svc.stop();
});

test('a client without an Origin header, or without both subprotocols, gets the HTTP refusal', async () => {
  const svc = await startService();
  const wrong = [SUBPROTOCOL, 'svc.auth.wrong'];
  expect((await refused(svc.streamUrl, wrong)).status).toBe(401);
  const origin = 'https://app.example.com';
  expect((await refused(svc.streamUrl, [SUBPROTOCOL], { origin })).status).toBe(401);
  await svc.stop();
});

const REFUSED_UPGRADE = [
  'GET /v1/asr/stream HTTP/1.1',
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  `Sec-WebSocket-Protocol: ${SUBPROTOCOL}, svc.auth.wrong`,
  'Origin: https://app.example.com',
  '\r\n',
].join('\r\n');

interface RawClient {
  readonly socket: Socket;
  /** The status line of the response. */
  readonly answered: Promise<string>;
  readonly closed: Promise<unknown>;
}

/** Asks for an upgrade that is refused, never answers the close and never closes. */
function silentBrowser(svc: Service): RawClient {
  const socket = connect({
    port: Number(new URL(svc.url).port),
    host: '127.0.0.1',
    allowHalfOpen: true,
  });
  socket.on('error', () => socket.destroy());
  socket.write(REFUSED_UPGRADE);
  const answered = new Promise<string>((resolve) => {
    socket.once('data', (data: Buffer) => resolve(data.toString('latin1').split('\r\n')[0] ?? ''));
  });
  // The server's FIN: it has let go of the socket.
  const closed = new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
  return { socket, answered, closed };
}

describe('a refused client that never answers the close', () => {
  let svc: Service;
  beforeEach(async () => {
    svc = await startService();
    // Time passes only when a test says so. Sockets and the database don't wait for these timers.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await svc.stop();
  });

  test('holds its socket for half a second', async () => {
    const client = silentBrowser(svc);
    expect(await client.answered).toContain(' 101 ');
    vi.advanceTimersByTime(500);
    await client.closed;
    client.socket.destroy();
  });

  test('is cut off at once when it floods the socket', async () => {
    const client = silentBrowser(svc);
    expect(await client.answered).toContain(' 101 ');
    const ping = rawFrame({ opcode: 9, payload: Buffer.alloc(0) });
    client.socket.write(Buffer.concat(Array.from({ length: 200 }, () => ping)));
    await client.closed;
    client.socket.destroy();
  });

  test('is one of 256 at most; further ones get the HTTP refusal', async () => {
    const clients = Array.from({ length: 300 }, () => silentBrowser(svc));
    const lines = await Promise.all(clients.map(({ answered }) => answered));
    expect(lines.filter((line) => line.includes(' 101 '))).toHaveLength(256);
    expect(lines.filter((line) => line.includes(' 401 '))).toHaveLength(44);
    vi.advanceTimersByTime(500);
    await Promise.all(clients.map(({ closed }) => closed));
    for (const { socket } of clients) socket.destroy();
    // The next browser is told why again.
    const next = silentBrowser(svc);
    expect(await next.answered).toContain(' 101 ');
    next.socket.destroy();
  });
});
