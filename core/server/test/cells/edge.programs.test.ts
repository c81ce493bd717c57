import { once } from 'node:events';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AsrSession, CreditBalance } from '@svc-asr/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertApiKey } from '../../src/accounts/keys/api-keys.ts';
import { generateApiKey, hashApiKey } from '../../src/accounts/keys/format.ts';
import { addToEdge } from '../../src/cells/edge-files.ts';
import { makeCertificate, type TestCertificate } from '@svc-asr/testing/certificate.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { startEdge, type Proxy } from '@svc-asr/testing/haproxy.ts';
import { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { moveBetween, startCells, stopCell, type TestCell } from './two-cells.ts';

let k1: TestCell;
let k2: TestCell;
let folder: string;
let certificate: TestCertificate;
let edge: Proxy;
beforeAll(async () => {
  [[k1, k2], folder, certificate] = await Promise.all([
    startCells('k1', 'k2'),
    mkdtemp(join(tmpdir(), 'svc-edge-')),
    makeCertificate(),
  ]);
  for (const { id, service } of [k1, k2]) await addToEdge(folder, id, [new URL(service.url).host]);
  edge = await startEdge({ certificate, port: await freePort(), folder });
});
afterAll(async () => {
  await edge.stop();
  await Promise.all([stopCell(k1), stopCell(k2), rm(folder, { recursive: true })]);
});

async function get(
  path: string,
  headers: Record<string, string>,
  url = edge.url,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  const agent = new Agent({ ca: certificate.cert });
  const sent = request(url + path, { agent, headers, servername: '' }).end();
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

async function availableMs(
  apiKey: string,
  { scheme = 'Bearer', url = edge.url } = {},
): Promise<number | string> {
  const { status, body } = await get('/v1/usage', { authorization: `${scheme} ${apiKey}` }, url);
  if (status !== 200) return `${status}`;
  const balance: CreditBalance = JSON.parse(body);
  return balance.available_ms;
}

/** Creates an account in the cell. Its key begins with the given cell name, or with none. */
async function addAccount(cell: TestCell, named: string | null, creditMs: number) {
  const { accountId } = await cell.service.addTenant({ creditMs });
  const { key, publicId } = generateApiKey(named);
  const hmac = hashApiKey(key, cell.service.config.secrets.apiKeyPeppers[0].secret);
  await insertApiKey(cell.service.database.pool, { id: publicId, accountId, hmac });
  return { accountId, apiKey: key, publicId };
}

test('a key is routed to the cell that its id begins with, in every spelling of the header', async () => {
  const [first, second] = [await addAccount(k1, 'k1', 1_000), await addAccount(k2, 'k2', 2_000)];
  expect(await availableMs(first.apiKey)).toBe(1_000);
  expect(await availableMs(second.apiKey)).toBe(2_000);
  expect(await availableMs(second.apiKey, { scheme: 'bearer  ' })).toBe(2_000);
});

test('a key from before cells had names is routed to the default cell', async () => {
  const old = await addAccount(k1, 'ZZ', 3_000);
  expect(await availableMs(old.apiKey)).toBe(3_000);
});

test('an unknown or malformed key gets the 401 of the contract', async () => {
  for (const key of [generateApiKey('k2').key, generateApiKey().key, 'nonsense']) {
    const { status, headers } = await get('/v1/usage', { authorization: `Bearer ${key}` });
    expect(status).toBe(401);
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test('people reach a cell by its own name, and the sign-up cell by the shared one', async () => {
  const before = [visits(k1), visits(k2)];
  await get('/v1/models?a', { host: 'k2.svc.example' });
  await get('/v1/models?b', { host: 'svc.example' });
  expect([visits(k1), visits(k2)]).toEqual(before.map((count) => count + 1));
});

function visits({ service }: TestCell): number {
  return service.logged().split('/v1/models').length - 1;
}

test('after a move the edge learns the new cell from one response and strips its header', async () => {
  const { accountId, apiKey } = await addAccount(k1, 'k1', 5_000);
  expect(await availableMs(apiKey)).toBe(5_000);
  await moveBetween(k1, k2, accountId);
  await eventually(async () => {
    const { status, headers } = await get('/v1/usage', { authorization: `Bearer ${apiKey}` });
    expect(headers).not.toHaveProperty('x-svc-moved-to');
    return status === 200;
  });
  await k2.service.database.pool.query(
    `select grant_credit($1, 1000, 'more', 'test', gen_random_uuid())`,
    [accountId],
  );
  expect(await availableMs(apiKey)).toBe(6_000);
});

test('a reload adds a cell and a moved key, and cuts no stream', async () => {
  const own = await mkdtemp(join(tmpdir(), 'svc-edge-'));
  await addToEdge(own, 'k1', [new URL(k1.service.url).host]);
  const reloaded = await startEdge({ certificate, port: await freePort(), folder: own });
  try {
    const staying = await addAccount(k1, 'k1', 60_000);
    const added = await addAccount(k2, 'k2', 7_000);
    // Its id names the cell that it has left.
    const moved = await addAccount(k2, 'k1', 8_000);
    const session = await createSession(reloaded.url, staying.apiKey);
    const stream = await StreamClient.ready(session, {
      url: `${reloaded.url.replace(/^https/, 'wss')}${new URL(session.websocket_url).pathname}`,
      ca: certificate.cert,
    });
    stream.send(Buffer.alloc(32_000));
    await addToEdge(own, 'k2', [new URL(k2.service.url).host]);
    await appendFile(join(own, 'keys.map'), `${moved.publicId} k2\n`);
    expect(await availableMs(added.apiKey, { url: reloaded.url })).toBe('401');
    reloaded.reload();
    await eventually(async () => {
      const sums = [added, moved].map(({ apiKey }) => availableMs(apiKey, { url: reloaded.url }));
      return (await Promise.all(sums)).join() === '7000,8000';
    });
    stream.send(Buffer.alloc(32_000));
    expect(await stream.flush()).toMatchObject({ total_audio_ms: 2_000 });
    expect((await stream.close()).code).toBe(1000);
  } finally {
    await reloaded.stop();
    await rm(own, { recursive: true });
  }
});

async function createSession(url: string, apiKey: string): Promise<AsrSession> {
  const sent = request(`${url}/v1/asr/sessions`, {
    method: 'POST',
    agent: new Agent({ ca: certificate.cert }),
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
  }).end(JSON.stringify({ model: 'svc-asr-kikuyu-v1', max_audio_seconds: 10 }));
  const [response] = await once(sent, 'response');
  return JSON.parse(await text(response));
}
