import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { KIKUYU, startService } from '@svc-asr/testing/service/service.ts';

const svc = await startService();
afterAll(() => svc.stop());

async function post(contentType: string | undefined, body = JSON.stringify({ model: KIKUYU })) {
  const { apiKey } = await svc.addTenant({ creditMs: 60_000 });
  return svc.request('/v1/asr/sessions', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    // Bytes, because fetch gives text a content type of its own.
    body: Buffer.from(body),
  });
}

test.each([
  ['a missing content type', undefined],
  ['text', 'text/plain'],
  ['a form', 'application/x-www-form-urlencoded'],
  ['something like JSON', 'application/vnd.api+json'],
  ['nonsense', 'json'],
])('S03 returns 415 for %s', async (_what, contentType) => {
  const { status, body } = await post(contentType);
  expect(status).toBe(415);
  expect(body.error).toMatchObject({
    type: 'unsupported_media_type',
    code: 'unsupported_media_type',
  });
});

test('S03 returns 415 for an empty body without a content type', async () => {
  expect((await post(undefined, '')).status).toBe(415);
});

test('S03 returns 415 before 413', async () => {
  expect((await post('text/plain', 'x'.repeat(20_000))).status).toBe(415);
});

test.each([
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'Application/JSON',
  'application/json; anything=else',
  'application/json; version=1; charset=utf-16',
  'application/json;',
  'application/json; =; "',
])('S03 accepts %s', async (contentType) => {
  expect((await post(contentType)).status).toBe(201);
});

test('S03 returns 415 for a gzip body and names the Content-Encoding', async () => {
  const { status, body, headers } = await svc.request('/v1/asr/sessions', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${svc.apiKey}`,
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    },
    body: gzipSync(JSON.stringify({ model: KIKUYU })),
  });
  expect(status).toBe(415);
  expect(body.error.message).toContain('Content-Encoding');
  expect(headers.get('accept-encoding')).toBe('identity');
});
