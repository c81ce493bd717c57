import { gunzipSync } from 'node:zlib';
import { request } from 'node:http';
import type { AsrSession } from '@svc-asr/protocol';
import type { NewKey, Overview, OverviewLive } from '@svc-asr/protocol/console/console.ts';
import { KIKUYU } from '@svc-asr/testing/service/service.ts';
import { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { afterAll, expect, test } from 'vitest';
import { startConsoleService, type TestBrowser } from '../support/console/console-service.ts';

const service = await startConsoleService();
afterAll(() => service.stop());

interface RawAnswer {
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly bytes: Buffer;
}

/** Like a browser, but keeps the bytes as they were sent. */
async function raw(
  browser: TestBrowser,
  path: string,
  input: { method?: string; encoding?: string; body?: string } = {},
): Promise<RawAnswer> {
  const headers = {
    cookie: browser.cookie,
    origin: 'https://console.example.org',
    'accept-encoding': input.encoding ?? 'gzip, deflate, br',
    ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  return new Promise((resolve, reject) => {
    const call = request(`${service.url}/console-api${path}`, { headers, method: input.method });
    call.on('error', reject).on('response', (response) => {
      const parts: Buffer[] = [];
      response
        .on('data', (part: Buffer) => parts.push(part))
        .on('end', () => resolve({ headers: response.headers, bytes: Buffer.concat(parts) }));
    });
    call.end(input.body);
  });
}

test('compresses long answers for clients that accept it, and never a secret', async () => {
  const browser = await service.signedIn('gzip@example.com');
  for (let at = 0; at < 8; at += 1) {
    const session = await browser.post<AsrSession>('/playground/session', { model: KIKUYU });
    await (await StreamClient.ready(session.body, { url: service.streamUrl })).close();
  }
  const packed = await raw(browser, '/overview');
  expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
  expect(packed.headers['content-length']).toBe(String(packed.bytes.length));
  const text = gunzipSync(packed.bytes).toString();
  const overview: Overview = JSON.parse(text);
  expect(overview.sessions).toHaveLength(8);
  expect(packed.bytes.length).toBeLessThan(text.length / 2);
  const csv = await raw(browser, '/sessions.csv');
  expect(gunzipSync(csv.bytes).toString()).toContain('session_id');
  const plain = await raw(browser, '/overview', { encoding: 'gzip;q=0' });
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(JSON.parse(plain.bytes.toString())).toMatchObject({ available_ms: 3_600_000 });
  const body = JSON.stringify({ name: 'n'.repeat(60), models: [KIKUYU], expires_in_days: null });
  const created = await raw(browser, '/keys', { method: 'POST', body });
  expect(created.headers['content-encoding']).toBeUndefined();
  const key: NewKey = JSON.parse(created.bytes.toString());
  expect(key.secret).toContain(key.key.id);
});

test('a page with a live session asks only for what changes', async () => {
  const owner = await service.signedIn('live@example.com');
  const other = await service.signedIn('not-live@example.com');
  const ended = await owner.post<AsrSession>('/playground/session', { model: KIKUYU });
  await (await StreamClient.ready(ended.body, { url: service.streamUrl })).close();
  const session = await owner.post<AsrSession>('/playground/session', { model: KIKUYU });
  const { body } = await owner.get<OverviewLive>('/overview/live');
  expect(body.sessions.map(({ id, status }) => [id, status])).toEqual([
    [session.body.id, 'reserved'],
  ]);
  expect(body.available_ms + body.reserved_ms).toBe(3_600_000);
  expect(JSON.stringify(body).length).toBeLessThan(600);
  expect((await other.get<OverviewLive>('/overview/live')).body.sessions).toEqual([]);
  other.cookie = '';
  expect((await other.get('/overview/live')).status).toBe(401);
});
