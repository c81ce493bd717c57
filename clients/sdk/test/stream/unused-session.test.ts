import { createServer } from 'node:http';
import { listen } from '@svc-asr/runtime/listen.ts';
import { SvcClient, errorResponse, type SvcError } from '@svc-asr/sdk';
import { fetchSession, openStream } from '@svc-asr/sdk/stream';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/stream/socket-node.ts';
import type { Connect } from '../../src/stream/socket.ts';
import { SvcStream } from '../../src/stream/svc-stream.ts';
import { hum, KIKUYU } from '../emulator-client.ts';

let emulator: Emulator;
let client: SvcClient;
beforeAll(async () => {
  emulator = await startEmulatorOn(await createTestDatabase(), { texts: ['nĩ wega mũno'] });
  client = new SvcClient({ baseUrl: emulator.url, apiKey: emulator.apiKey, deadlineMs: 1_000 });
});
afterAll(() => emulator.stop());

/** A browser that does not trust the certificate: the socket fails at once, without a reason. */
const neverOpens: Connect = (_, handlers) => {
  queueMicrotask(() => handlers.onEnd({ code: 1006, reason: '', refusal: null }));
  return { send() {}, close() {}, drop() {}, bufferedBytes: 0 };
};

test.each([
  ['a client that fails soon', { deadlineMs: 1_000 }],
  ['a client that waits until the account is free', {}],
])(
  'a stream whose socket did not open uses its session for the next try, with %s',
  async (_, options) => {
    let opened = 0;
    const created = new Set<string>();
    const { url: baseUrl, apiKey } = emulator;
    const { sessions } = new SvcClient({ baseUrl, apiKey, ...options });
    const stream = new SvcStream(
      {
        getSession: async ({ signal }) => {
          const session = await sessions.create({ model: KIKUYU }, { signal });
          created.add(session.id);
          return session;
        },
      },
      (...args) => (opened++ === 0 ? neverOpens : connect)(...args),
    );
    const began = performance.now();
    await stream.write(hum(1_000));
    expect((await stream.finish()).text).toBe('nĩ wega mũno');
    expect([opened, created.size]).toEqual([2, 1]);
    // An unused reservation would block the account for a minute.
    expect(performance.now() - began).toBeLessThan(15_000);
  },
);

/** A backend as in the browser guide. */
async function startBackend(): Promise<string> {
  const server = createServer((request, response) => {
    const idempotencyKey = request.headers['idempotency-key']?.toString();
    client.sessions.create({ model: KIKUYU }, { idempotencyKey }).then(
      (session) => response.writeHead(201).end(JSON.stringify(session)),
      (error: SvcError) => {
        const { status, headers, body } = errorResponse(error);
        response.writeHead(status, headers).end(body);
      },
    );
  });
  const port = await listen(server);
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${port}/session`;
}

test('the next stream of the page gets the session that an earlier one could not open', async () => {
  const url = await startBackend();
  const failed = new SvcStream({ getSession: fetchSession(url) }, neverOpens);
  const reconnecting = new Promise((resolve) => failed.on('reconnecting', resolve));
  await reconnecting;
  await failed.close();
  const errors: string[] = [];
  const stream = openStream({ getSession: fetchSession(url) });
  stream.on('waiting', ({ error }) => errors.push(error.code));
  await stream.write(hum(1_000));
  expect((await stream.finish()).text).toBe('nĩ wega mũno');
  expect(errors).toEqual([]);
  // A used session's key is not sent again.
  const next = openStream({ getSession: fetchSession(url) });
  const codes: string[] = [];
  next.on('reconnecting', ({ close }) => codes.push(close.reason));
  await next.write(hum(1_000));
  expect((await next.finish()).sessions).toHaveLength(1);
  expect(codes).toEqual([]);
});

test('a page gets the code, the wait and a text for its user', async () => {
  const url = await startBackend();
  const blocker = await client.sessions.create({ model: KIKUYU });
  const stream = openStream({ getSession: fetchSession(url) });
  const began = performance.now();
  const { error, waitMs } = await new Promise<{ error: SvcError; waitMs: number }>((resolve) =>
    stream.on('waiting', resolve),
  );
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(error).toMatchObject({
    code: 'concurrency_limit_exceeded',
    status: 429,
    userMessage: 'Another transcription is still running. Please wait a moment.',
  });
  expect(error.retryAfterMs).toBeGreaterThan(30_000);
  expect(waitMs).toBeLessThanOrEqual(45_000);
  await stream.close();
  await openStream({ session: blocker }).finish();
});
