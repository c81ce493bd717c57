import { assembleApiKey } from '@svc-asr/runtime/api-key.ts';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { DEFAULT_CONFIG, DOORS, startCompatible } from '../../src/index.ts';
import { startCompatibleService, type CompatibleService } from '../compatible-service.ts';
import { ListenClient, RAW, RefusedHandshake, SENTENCE } from './listen-client.ts';

let service: CompatibleService;
beforeAll(async () => {
  service = await startCompatibleService();
});
afterAll(() => service.stop());
afterEach(() => service.emulator.faults.assertAllMet());

const QUERY = `model=svc-asr-kikuyu-v1&${RAW}`;

/** The response to a handshake that must be refused. */
async function refused(input: Parameters<typeof ListenClient.open>[1]): Promise<RefusedHandshake> {
  const { apiKey: key } = service.emulator;
  const opened = ListenClient.open(service.url, { key, ...input });
  const error: unknown = await opened.catch((refusal: unknown) => refusal);
  if (error instanceof RefusedHandshake) return error;
  throw new Error('The handshake was accepted.', { cause: error });
}

test.each([
  ['diarize=true', 'unsupported_parameter', /own\.$/],
  ['encoding=g729&sample_rate=8000', 'invalid_parameter', /^This encoding/],
  ['language=luo', 'language_contradiction', /different languages/],
])('refuses %s with 400 in the form of Deepgram', async (extra, code, message) => {
  const base = extra.startsWith('encoding') ? 'model=svc-asr-kikuyu-v1' : QUERY;
  const { status, headers, body } = await refused({ query: `${base}&${extra}` });
  expect(status).toBe(400);
  expect(body).toEqual({
    err_code: code,
    err_msg: expect.stringMatching(message),
    request_id: headers['x-request-id'],
  });
  expect(headers).toMatchObject({ 'dg-error': body.err_msg, 'dg-request-id': body.request_id });
});

test('a request that names no language lists both', async () => {
  const { status, body } = await refused({ query: `model=nova-3&${RAW}` });
  expect(status).toBe(400);
  expect(body.err_msg).toMatch(/ki \(Kikuyu\).*luo \(Dholuo\)/);
});

test.each([
  ['a wrong checksum', 'svc_live_v1_x'],
  ['an unknown key', assembleApiKey('0'.repeat(12), '0'.repeat(32))],
])('%s is refused with 401', async (_name, key) => {
  const { status, body } = await refused({ key });
  expect(status).toBe(401);
  expect(body.err_msg).toMatch(/key/i);
});

test('an account without credit is refused with 402 before the 101', async () => {
  service.emulator.faults.arm({ name: 'no-credit', times: 1, ms: 0 });
  const { status, headers } = await refused({ query: QUERY });
  expect(status).toBe(402);
  expect(headers['dg-error']).toMatch(/credit/);
});

test('an account at its limit is refused with 429 and Retry-After, after its wait', async () => {
  const client = await ListenClient.open(service.url, { key: service.emulator.apiKey });
  client.sendAudio(SENTENCE);
  const { status, headers } = await refused({ query: QUERY });
  expect(status).toBe(429);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  client.command('CloseStream');
  await client.closed;
});

test('a page is refused, because its visitors could read the key', async () => {
  const { status, body } = await refused({ headers: { origin: 'https://example.org' } });
  expect(status).toBe(403);
  expect(body.err_msg).toMatch(/web pages/);
});

test('a failure during the stream is named before the close', async () => {
  const client = await ListenClient.open(service.url, { key: service.emulator.apiKey });
  service.emulator.faults.arm({ name: 'no-credit', times: 1, ms: 0 });
  service.emulator.faults.arm({ name: 'connection-lost', times: 1, ms: 500 });
  client.sendAudio(SENTENCE);
  expect(await client.closed).toMatchObject({
    code: 1011,
    reason: expect.stringMatching(/^insufficient_credits: Less than one second /),
  });
  expect(client.messages.at(-1)).toMatchObject({
    type: 'Error',
    variant: 'insufficient_credits',
    description: expect.stringMatching(/credit/),
  });
});

test('a restart of this program is named before the close with 1012', async () => {
  const other = await startCompatible(
    { ...DEFAULT_CONFIG, port: 0, baseUrl: service.emulator.url },
    { doors: DOORS, log: () => undefined },
  );
  const client = await ListenClient.open(other.url, { key: service.emulator.apiKey });
  await other.stop();
  expect(await client.closed).toMatchObject({ code: 1012 });
  expect(client.messages).toMatchObject([{ type: 'Error', variant: 'service_restart' }]);
});

test.each([
  ['a wrong key', 'svc_live_v1_x', 1008, /^invalid_api_key: The API key/],
  ['no credit', null, 1008, /^insufficient_credits: Less than/],
])(
  'a client with its key in a subprotocol sees %s as the reason of the close',
  async (_name, wrongKey, code, reason) => {
    if (wrongKey === null) service.emulator.faults.arm({ name: 'no-credit', times: 1, ms: 0 });
    const client = await ListenClient.open(service.url, {
      protocols: ['token', wrongKey ?? service.emulator.apiKey],
    });
    expect(client.protocol).toBe('token');
    expect(await client.closed).toEqual({ code, reason: expect.stringMatching(reason) });
    expect(client.messages).toMatchObject([{ type: 'Error' }]);
  },
);

test('a page that offers its key as a subprotocol is refused with 403', async () => {
  const opened = ListenClient.open(service.url, {
    protocols: ['token', service.emulator.apiKey],
    headers: { origin: 'https://example.org' },
  });
  await expect(opened).rejects.toMatchObject({ status: 403 });
});
