import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { listen } from '@svc-asr/runtime/listen.ts';
import { SvcClient, SvcError } from '../src/index.ts';

/** A server that sends the given responses in turn and records the requests. */
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const KEY = 'svc_live_v1_forthistestonly';
const BALANCE = { object: 'credit_balance' };

async function answering(
  ...answers: { status: number; body?: unknown; headers?: Record<string, string> }[]
) {
  const asked: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers);
    request.resume();
    const answer = answers[Math.min(asked.length, answers.length) - 1] ?? { status: 500 };
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    response.end(JSON.stringify(answer.body ?? null));
  });
  servers.push(server);
  const port = await listen(server);
  return { asked, baseUrl: `http://127.0.0.1:${port}` };
}

const BUSY = { status: 503, headers: { 'retry-after': '0' } };

test('all attempts of one call send the same idempotency key, and the next call another', async () => {
  const session = { id: 's', websocket_url: 'wss://x', websocket_protocols: ['a', 'b'] };
  const { asked, baseUrl } = await answering(BUSY, BUSY, { status: 201, body: session });
  const client = new SvcClient({ baseUrl, apiKey: KEY });
  await client.sessions.create({ model: 'svc-asr-kikuyu-v1' });
  await client.sessions.create({ model: 'svc-asr-kikuyu-v1' });
  const keys = asked.map((headers) => headers['idempotency-key']);
  expect(keys.slice(0, 3)).toEqual([keys[0], keys[0], keys[0]]);
  expect(keys[3]).not.toBe(keys[0]);
  expect(asked[0]?.authorization).toBe(`Bearer ${KEY}`);
});

test('waits that the service asked for do not make later waits longer', async () => {
  const wait = { status: 503, headers: { 'retry-after': '1' } };
  const { asked, baseUrl } = await answering(wait, wait, { status: 502 }, { status: 402 });
  // 2,200 ms at most, and 250 ms of backoff. A third backoff would be 500 ms at least.
  const client = new SvcClient({ baseUrl, apiKey: KEY, waitMsMax: 2_480 });
  await expect(client.usage.get()).rejects.toMatchObject({ status: 402 });
  expect(asked).toHaveLength(4);
});

test('a stream that lost its connection does not wait for an answer that was lost too', async () => {
  const server = createServer(() => server.emit('asked', performance.now()));
  servers.push(server);
  const client = new SvcClient({
    baseUrl: `http://127.0.0.1:${await listen(server)}`,
    apiKey: KEY,
    timeoutMs: 4_000,
  });
  const asked = once(server, 'asked');
  const over = new AbortController();
  const options = { signal: over.signal, idempotencyKey: `lost.${'a'.repeat(16)}.node-1` };
  const call = client.sessions.create({ model: 'svc-asr-kikuyu-v1' }, options);
  const [first] = await asked;
  const [second] = await once(server, 'asked');
  expect(second - first).toBeLessThan(3_000);
  over.abort();
  await expect(call).rejects.toMatchObject({ code: 'aborted' });
});

test('a call after one that was given up gets the session that was reserved for it', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers['idempotency-key']?.toString());
    // The first request is never answered.
    if (asked.length > 1) response.writeHead(402).end();
    else server.emit('reserved');
  });
  servers.push(server);
  const port = await listen(server);
  const client = new SvcClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: KEY });
  const model = 'svc-asr-kikuyu-v1';
  const stop = new AbortController();
  const givenUp = client.sessions.create({ model }, { signal: stop.signal });
  await once(server, 'reserved');
  stop.abort();
  await expect(givenUp).rejects.toMatchObject({ code: 'aborted' });
  await Promise.allSettled([client.sessions.create({ model, maxAudioSeconds: 10 })]);
  // Two at once can't both have it.
  const same = [client.sessions.create({ model }), client.sessions.create({ model })];
  await Promise.allSettled(same);
  const [first, forAnother, ...forTheSame] = asked;
  expect(forAnother).not.toBe(first);
  expect(forTheSame.filter((key) => key === first)).toHaveLength(1);
});

test('gives up after the last attempt and throws its error', async () => {
  const error = {
    type: 'api_error',
    code: 'service_unavailable',
    message: 'Later.',
    request_id: 'r',
  };
  const { asked, baseUrl } = await answering({ ...BUSY, body: { error } });
  const client = new SvcClient({ baseUrl, apiKey: KEY, retriesMax: 2 });
  await expect(client.usage.get()).rejects.toMatchObject({
    code: 'service_unavailable',
    type: 'api_error',
    status: 503,
    retryable: true,
    requestId: 'r',
  });
  expect(asked).toHaveLength(3);
});

test('an abort ends the wait at once', async () => {
  const { baseUrl } = await answering({ status: 503, headers: { 'retry-after': '60' } });
  const stop = new AbortController();
  const asking = new SvcClient({ baseUrl, apiKey: KEY }).usage.get({ signal: stop.signal });
  stop.abort();
  await expect(asking).rejects.toMatchObject({ code: 'aborted', retryable: false });
});

/** Never ends its response, with what `begin` writes. */
async function unending(begin: (response: ServerResponse) => void) {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    request.resume();
    begin(response);
  });
  servers.push(server);
  const port = await listen(server);
  return { asked: () => asked, baseUrl: `http://127.0.0.1:${port}` };
}

const UNENDING: [string, (response: ServerResponse) => void][] = [
  ['is silent', () => {}],
  ['sends only headers', (response) => response.writeHead(201).flushHeaders()],
  [
    'drips bytes',
    (response) => {
      const drip = setInterval(() => response.write('{"a":"'), 20);
      response.on('close', () => clearInterval(drip));
    },
  ],
];

test.each(UNENDING)('fails after three timeouts when the server %s', async (_, begin) => {
  const { asked, baseUrl } = await unending(begin);
  const client = new SvcClient({ baseUrl, apiKey: KEY, timeoutMs: 1_000 });
  await expect(client.sessions.create({ model: 'svc-asr-kikuyu-v1' })).rejects.toMatchObject({
    code: 'timeout',
    retryable: true,
  });
  expect(asked()).toBe(3);
});

test.each(UNENDING)('settles at its deadline when the server %s', async (_, begin) => {
  const { asked, baseUrl } = await unending(begin);
  const began = performance.now();
  const client = new SvcClient({ baseUrl, apiKey: KEY, deadlineMs: 300 });
  await expect(client.usage.get()).rejects.toMatchObject({ code: 'timeout' });
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(asked()).toBe(1);
});

test('reads at most 1 MiB of a response without an end', async () => {
  let bytes = 0;
  const { baseUrl } = await unending((response) => {
    const block = Buffer.alloc(64 * 1024, 'x');
    const pour = (): void => {
      do bytes += block.byteLength;
      while (response.write(block));
    };
    response.writeHead(200).on('drain', pour);
    pour();
  });
  const client = new SvcClient({ baseUrl, apiKey: KEY });
  await expect(client.usage.get()).rejects.toMatchObject({ code: 'unexpected_answer' });
  // Besides what the sockets' buffers took.
  expect(bytes).toBeLessThan(64 * 1024 * 1024);
});

test('with a deadline, refusals that ask for a longer wait are thrown at once', async () => {
  const { asked, baseUrl } = await answering({ status: 503, headers: { 'retry-after': '48' } });
  const client = new SvcClient({ baseUrl, apiKey: KEY, deadlineMs: 3_000 });
  await expect(client.usage.get()).rejects.toMatchObject({ status: 503, retryAfterMs: 48_000 });
  expect(asked).toHaveLength(1);
});

test('with a deadline, the session that this caller has just closed blocks nothing', async () => {
  const blocked = {
    status: 429,
    headers: { 'retry-after': '5' },
    body: {
      error: { type: 't', code: 'concurrency_limit_exceeded', message: 'm', request_id: 'r' },
    },
  };
  const { asked, baseUrl } = await answering(blocked, { status: 200, body: BALANCE });
  const client = new SvcClient({ baseUrl, apiKey: KEY, deadlineMs: 3_000 });
  expect(await client.usage.get()).toEqual(BALANCE);
  expect(asked).toHaveLength(2);
});

test('reports a response that is not from the service', async () => {
  const { baseUrl } = await answering({ status: 200, body: '<html>' });
  const client = new SvcClient({ baseUrl, apiKey: KEY });
  await expect(client.usage.get()).rejects.toMatchObject({ code: 'unexpected_answer' });
});

test('does not follow redirects, which would leak the key', async () => {
  const elsewhere = await answering({ status: 200, body: BALANCE });
  const { baseUrl } = await answering({ status: 302, headers: { location: elsewhere.baseUrl } });
  const client = new SvcClient({ baseUrl, apiKey: KEY, retriesMax: 0 });
  await expect(client.usage.get()).rejects.toBeInstanceOf(SvcError);
  expect(elsewhere.asked).toEqual([]);
});

describe('rejects invalid arguments before sending a request', () => {
  test.each([
    [
      'plain http to another machine',
      { baseUrl: 'http://asr.example.org', apiKey: KEY },
      'insecure_base_url',
    ],
    ['an invalid key', { baseUrl: 'https://asr.example.org', apiKey: 'sk-123' }, 'invalid_api_key'],
    ['no address', { apiKey: KEY }, 'missing_base_url'],
    ['half an address', { baseUrl: '127.0.0.1:8080', apiKey: KEY }, 'invalid_base_url'],
    ['a host and a port', { baseUrl: 'localhost:8080' }, 'invalid_base_url'],
  ])('%s', (_, options, code) => {
    expect(() => new SvcClient(options)).toThrow(expect.objectContaining({ code }));
  });

  test('no API key, except for models', async () => {
    const { baseUrl } = await answering({ status: 200, body: { object: 'list', data: [] } });
    const client = new SvcClient({ baseUrl });
    expect(await client.models.list()).toEqual([]);
    expect(() => client.usage.get()).toThrow(expect.objectContaining({ code: 'missing_api_key' }));
  });

  test('printing a client does not show its key', () => {
    const client = new SvcClient({ baseUrl: 'https://asr.example.org', apiKey: KEY });
    expect(JSON.stringify(client)).not.toContain(KEY);
  });
});
