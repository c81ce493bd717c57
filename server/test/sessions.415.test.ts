import { afterAll, beforeAll, expect, test } from 'vitest';
import { KIKUYU, startService, type Service } from './service.ts';

let svc: Service;
beforeAll(async () => {
  svc = await startService();
});
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
  ['JSON in another charset', 'application/json; charset=utf-16'],
  ['nonsense', 'json'],
])('S03 %s', async (_what, contentType) => {
  const { status, body } = await post(contentType);
  expect(status).toBe(415);
  expect(body.error).toMatchObject({
    type: 'unsupported_media_type',
    code: 'unsupported_media_type',
  });
});

test('S03 an empty body without a content type', async () => {
  expect((await post(undefined, '')).status).toBe(415);
});

test('S03 comes before the size of the body', async () => {
  expect((await post('text/plain', 'x'.repeat(20_000))).status).toBe(415);
});

test.each([
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'Application/JSON',
])('S03 %s is JSON', async (contentType) => {
  expect((await post(contentType)).status).toBe(201);
});
