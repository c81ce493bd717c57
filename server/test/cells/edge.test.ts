import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { CreditBalance } from '@svc-asr/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertApiKey } from '../../src/accounts/api-keys.ts';
import { generateApiKey, hashApiKey } from '../../src/accounts/api-key-format.ts';
import { addToEdge } from '../../src/cells/edge-files.ts';
import { makeCertificate, type TestCertificate } from '@svc-asr/testing/certificate.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { freePort } from '@svc-asr/testing/free-port.ts';
import { startEdge, type Proxy } from '@svc-asr/testing/haproxy.ts';
import { moveBetween, startCell, stopCell, type TestCell } from './two-cells.ts';

let k1: TestCell;
let k2: TestCell;
let folder: string;
let certificate: TestCertificate;
let edge: Proxy;
beforeAll(async () => {
  [k1, k2, folder, certificate] = await Promise.all([
    startCell('k1'),
    startCell('k2'),
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
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  const agent = new Agent({ ca: certificate.cert });
  const sent = request(edge.url + path, { agent, headers, servername: '' }).end();
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

async function availableMs(apiKey: string, scheme = 'Bearer'): Promise<number | string> {
  const { status, body } = await get('/v1/usage', { authorization: `${scheme} ${apiKey}` });
  if (status !== 200) return `${status}`;
  const balance: CreditBalance = JSON.parse(body);
  return balance.available_ms;
}

/** An account in the cell, with a key that names this cell, or none. */
async function addAccount(cell: TestCell, named: string | null, creditMs: number) {
  const { accountId } = await cell.service.addTenant({ creditMs });
  const { key, publicId } = generateApiKey(named);
  const hmac = hashApiKey(key, cell.service.config.apiKeyPepper);
  await insertApiKey(cell.service.database.pool, { id: publicId, accountId, hmac });
  return { accountId, apiKey: key };
}

test('a key is routed to the cell that its id begins with, in every spelling of the header', async () => {
  const [first, second] = [await addAccount(k1, 'k1', 1_000), await addAccount(k2, 'k2', 2_000)];
  expect(await availableMs(first.apiKey)).toBe(1_000);
  expect(await availableMs(second.apiKey)).toBe(2_000);
  expect(await availableMs(second.apiKey, 'bearer  ')).toBe(2_000);
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

test('after a move the edge learns the new cell from one answer, and hides how', async () => {
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
