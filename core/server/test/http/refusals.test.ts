import { afterAll, describe, expect, test } from 'vitest';
import { sendRaw, type RawAnswer } from '../support/raw-http.ts';
import { startService } from '@svc-asr/testing/service/service.ts';

const svc = await startService();
afterAll(() => svc.stop());

function codeOf(answer: RawAnswer): string {
  const body: { error: { code: string; request_id: string } } = JSON.parse(answer.body);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(answer.headers['connection']).toBe('close');
  expect(body.error.request_id).toBe(answer.headers['x-request-id']);
  return body.error.code;
}

function withSlashes(count: number): string {
  return `GET /docs${'/'.repeat(count)}x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
}

describe('unknown routes and methods', () => {
  test.each(['/v1', '/v1/asr', '/v1/asr/sessions/', '/V1/models', '/v1/models/x', '/%', '/%00'])(
    'H01 H02 %s is 404 route_not_found',
    async (path) => {
      const { status, body } = await svc.request(path);
      expect(status).toBe(404);
      expect(body.error).toMatchObject({ type: 'invalid_request_error', code: 'route_not_found' });
    },
  );

  test.each([
    ['DELETE', '/v1/models', 'GET, HEAD'],
    ['PUT', '/v1/asr/sessions', 'POST'],
    ['GET', '/v1/asr/sessions', 'POST'],
    ['POST', '/v1/usage', 'GET, HEAD'],
    ['OPTIONS', '/v1/usage', 'GET, HEAD'],
    ['POST', '/v1/asr/stream', 'GET, HEAD'],
    ['QUERY', '/v1/models', 'GET, HEAD'],
  ])('H01 H02 %s %s is 405 with the allowed methods in Allow', async (method, path, allowed) => {
    const { status, body, headers } = await svc.request(`${path}?a=1`, { method });
    expect(status).toBe(405);
    expect(headers.get('allow')).toBe(allowed);
    expect(body.error.code).toBe('method_not_allowed');
  });

  test('H01 an unknown route is 404 whatever the body is', async () => {
    const headers = { 'content-type': 'text/plain' };
    const body = 'x'.repeat(100_000);
    expect((await svc.request('/v1/nothing', { method: 'POST', headers, body })).status).toBe(404);
    expect((await svc.request('/v1/usage', { method: 'POST', headers, body })).status).toBe(405);
  });

  test('H01 a plain GET on the stream URL is 426', async () => {
    const { status, body, headers } = await svc.request('/v1/asr/stream');
    expect(status).toBe(426);
    expect(headers.get('upgrade')).toBe('websocket');
    expect(body.error.code).toBe('upgrade_required');
  });
});

test.each([
  ['/v1/models', 200],
  ['/v1/usage', 401],
  ['/v1/asr/stream', 426],
])('H01 refuses an upgrade to a protocol other than WebSocket: %s is %i', async (path, status) => {
  const offer =
    'Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk';
  const answer = await sendRaw(svc.url, `GET ${path} HTTP/1.1\r\nHost: x\r\n${offer}\r\n\r\n`);
  expect(answer.status).toBe(status);
});

describe('invalid requests', () => {
  test.each([
    ['not HTTP', 'hello\r\n\r\n'],
    ['no Host', 'GET /v1/models HTTP/1.1\r\n\r\n'],
    ['a method that does not exist', 'STEAL /v1/models HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    [
      'a length and chunks: the classic of request smuggling',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
    [
      'a body in a coding that we do not read',
      'POST /v1/asr/sessions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('H01 H02 %s is 400 malformed_request', async (_what, bytes) => {
    const answer = await sendRaw(svc.url, bytes);
    expect(answer.status).toBe(400);
    expect(codeOf(answer)).toBe('malformed_request');
  });

  test('H01 H02 CONNECT gets 405, like every method that a path does not have', async () => {
    const answer = await sendRaw(
      svc.url,
      'CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: x\r\n\r\n',
    );
    expect(answer.status).toBe(405);
    expect(codeOf(answer)).toBe('method_not_allowed');
  });

  test('H01 H02 headers over 8 KiB are 431', async () => {
    const header = `X-Long: ${'x'.repeat(9_000)}`;
    const answer = await sendRaw(
      svc.url,
      `GET /v1/models HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`,
    );
    expect(answer.status).toBe(431);
    expect(codeOf(answer)).toBe('request_headers_too_large');
  });

  test('H01 H02 a path with more than 2,048 characters is 431', async () => {
    expect((await sendRaw(svc.url, withSlashes(2_000))).status).toBe(404);
    const answer = await sendRaw(svc.url, withSlashes(2_050));
    expect(answer.status).toBe(431);
    expect(codeOf(answer)).toBe('request_headers_too_large');
  });

  test('H01 H02 slow headers and slow bodies get 408 after the times that its message names, while other requests are served', async () => {
    const slow = [
      sendRaw(svc.url, 'GET /v1/models HTTP/1.1\r\nHost: x\r\nX-Slow: '),
      sendRaw(
        svc.url,
        'POST /v1/asr/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
          `Authorization: Bearer ${svc.apiKey}\r\nContent-Length: 30\r\n\r\n{"model"`,
      ),
    ] as const;
    expect((await svc.models()).status).toBe(200);
    const [headers, body] = await Promise.all(slow);
    for (const answer of [headers, body]) {
      expect(answer.status).toBe(408);
      expect(answer.tookMs).toBeLessThan(15_000);
      expect(codeOf(answer)).toBe('request_timeout');
      expect(answer.body).toContain('5 seconds for its headers, 10 seconds in all');
    }
    expect(headers.tookMs).toBeGreaterThanOrEqual(5_000);
    expect(body.tookMs).toBeGreaterThanOrEqual(10_000);
  });
});

test('Expect: 100-continue is answered, and any other expectation is ignored', async () => {
  const answer = await sendRaw(
    svc.url,
    'GET /v1/models HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n',
  );
  expect(answer.status).toBe(200);
});

test('HEAD answers as GET would, without the body', async () => {
  const response = await fetch(`${svc.url}/v1/models`, { method: 'HEAD' });
  expect(response.status).toBe(200);
  expect(Number(response.headers.get('content-length'))).toBeGreaterThan(100);
});
