import { request as httpRequest } from 'node:http';
import { once } from 'node:events';
import type { ErrorBody } from '@svc-asr/protocol';
import { afterAll, expect, test } from 'vitest';
import { generateSecrets, parseConfig } from '../../src/config.ts';
import { startConsoleService, TestBrowser } from '../support/console/console-service.ts';

const service = await startConsoleService();
afterAll(() => service.stop());

/** A request with any Host header, which `fetch` does not allow. */
async function postAs(headers: Record<string, string>): Promise<number | undefined> {
  const request = httpRequest(`${service.url}/console-api/waitlist`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  });
  const body = { email: 'visitor@example.com', use_case: '', language: 'en' };
  request.end(JSON.stringify(body));
  const [response] = await once(request, 'response');
  response.resume();
  return response.statusCode;
}

test('the origin of a request is compared with PUBLIC_URL, not with its own Host header', async () => {
  const rebound = { host: 'evil.example', origin: 'https://evil.example' };
  expect(await postAs(rebound)).toBe(403);
  expect(await postAs({ origin: service.url })).toBe(403);
  expect(await postAs({ origin: 'http://console.example.org' })).toBe(403);
  expect(await postAs({ origin: 'https://console.example.org' })).toBe(202);
});

test('limits database queries for forged session cookies without affecting real sessions', async () => {
  const person = await service.signedIn('person@example.com');
  expect((await person.get('/me')).status).toBe(200);
  const began = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 150 }, (_, at) => {
      const forger = new TestBrowser(service.url);
      forger.cookie = `__Host-svc_console=${String(at).padStart(43, 'A')}`;
      return forger.get<ErrorBody>('/me');
    }),
  );
  const refused = answers.filter(({ status }) => status === 429);
  // A burst of 120, and two more each second.
  const queriesMax = 120 + 2 * Math.ceil((performance.now() - began) / 1000);
  expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(queriesMax);
  expect(refused.length).toBeGreaterThanOrEqual(150 - queriesMax);
  expect((await person.get('/me')).status).toBe(200);
});

test('the development mailbox is refused beyond one machine, and hidden from a proxy', async () => {
  const env = {
    ...generateSecrets(),
    DATABASE_URL: 'postgres://svc@127.0.0.1/svc',
    PUBLIC_STREAM_URL: 'wss://localhost/v1/asr/stream',
    CONSOLE_DEV_MAILBOX: '1',
  };
  expect(() => parseConfig({ ...env, PUBLIC_URL: 'https://localhost:8080' })).not.toThrow();
  for (const wider of [
    { TRUSTED_PROXIES: '127.0.0.1' },
    { PUBLIC_URL: 'https://speech.example.com' },
    { PUBLIC_STREAM_URL: 'wss://speech.example.com' },
  ]) {
    expect(() => parseConfig({ ...env, ...wider })).toThrow('CONSOLE_DEV_MAILBOX');
  }
  const development = await startConsoleService({
    env: {
      SMTP_URL: '',
      CONSOLE_DEV_MAILBOX: '1',
      PUBLIC_URL: 'https://localhost:8080',
      PUBLIC_STREAM_URL: 'wss://localhost:8080',
    },
  });
  try {
    const mailbox = `${development.url}/console-api/dev/mailbox`;
    expect((await fetch(mailbox)).status).toBe(200);
    const proxied = await fetch(mailbox, { headers: { 'x-forwarded-for': '203.0.113.9' } });
    expect(proxied.status).toBe(404);
  } finally {
    await development.stop();
  }
});
