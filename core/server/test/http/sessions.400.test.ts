import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, expect, test } from 'vitest';
import { KIKUYU, startService } from '@svc-asr/testing/service/service.ts';

const svc = await startService();
afterAll(() => svc.stop());
// No refusal reserves anything.
afterEach(async () => {
  const { rowCount } = await svc.database.pool.query('select from sessions');
  assert.equal(rowCount, 0, 'A refused request reserved a session.');
});

const seconds = (value: unknown) => ({ model: KIKUYU, max_audio_seconds: value });

test.each([
  ['no JSON', '{model: 1}', 'invalid_json'],
  ['nothing at all', '', 'invalid_json'],
  ['JSON cut short', '{"model":"svc-asr-kik', 'invalid_json'],
  ['a name twice', `{"model":"${KIKUYU}","model":"${KIKUYU}"}`, 'invalid_json'],
  ['a name twice, once escaped', `{"model":"x","mod\\u0065l":"${KIKUYU}"}`, 'invalid_json'],
  ['a list', '[]', 'invalid_parameter'],
  ['null', 'null', 'invalid_parameter'],
  ['a string', `"${KIKUYU}"`, 'invalid_parameter'],
  ['deep nesting', '['.repeat(8_000) + ']'.repeat(8_000), 'invalid_parameter'],
  ['an unknown property', { model: KIKUYU, language: 'ki' }, 'unknown_parameter'],
  ['__proto__', `{"model":"${KIKUYU}","__proto__":{"max_audio_seconds":5}}`, 'unknown_parameter'],
  ['constructor', `{"model":"${KIKUYU}","constructor":{}}`, 'unknown_parameter'],
  ['no model', {}, 'missing_parameter'],
  ['model as a number', { model: 1 }, 'invalid_parameter'],
  ['model null', { model: null }, 'invalid_parameter'],
  ['max_audio_seconds "60"', seconds('60'), 'invalid_parameter'],
  ['max_audio_seconds 1.5', seconds(1.5), 'invalid_parameter'],
  ['max_audio_seconds 0', seconds(0), 'invalid_parameter'],
  ['max_audio_seconds -1', seconds(-1), 'invalid_parameter'],
  ['max_audio_seconds 301', seconds(301), 'invalid_parameter'],
  [
    'max_audio_seconds 1e400',
    `{"model":"${KIKUYU}","max_audio_seconds":1e400}`,
    'invalid_parameter',
  ],
  [
    'max_audio_seconds that JavaScript rounds to 300',
    `{"model":"${KIKUYU}","max_audio_seconds":300.00000000000000001}`,
    'invalid_parameter',
  ],
  ['max_audio_seconds null', seconds(null), 'invalid_parameter'],
  ['max_audio_seconds true', seconds(true), 'invalid_parameter'],
])('S05 S07 returns 400 for %s', async (_what, body, code) => {
  const { status, body: answer } = await svc.refusedSession(body);
  expect(status).toBe(400);
  expect(answer.error).toMatchObject({ type: 'invalid_request_error', code });
});

const DUPLICATE = `{"model":"${KIKUYU}","model":"${KIKUYU}"}`;
test.each([
  [
    'max_audio_seconds and its range',
    seconds(301),
    'max_audio_seconds is not valid. Send an integer from 1 to 300.',
  ],
  [
    'max_audio_seconds and its type',
    seconds('60'),
    'max_audio_seconds is not valid. Send an integer from 1 to 300.',
  ],
  [
    'model and where to find ids',
    { model: 1 },
    'model is not valid. Send a string: GET /v1/models lists the model ids.',
  ],
  ['the body', [], 'not a JSON object'],
  ['the missing model', {}, 'The parameter model is missing.'],
  [
    'the known parameters',
    { model: KIKUYU, language: 'ki' },
    'Send only model and max_audio_seconds.',
  ],
  ['a duplicate key', DUPLICATE, 'the same key twice'],
  ['a byte order mark', `\uFEFF{"model":"${KIKUYU}"}`, 'byte order mark (BOM)'],
  ['an empty body', '', 'is empty'],
])('S05 the message names %s', async (_what, body, message) => {
  const { status, body: answer } = await svc.refusedSession(body);
  expect(status).toBe(400);
  expect(answer.error.message).toContain(message);
});

test.each([
  ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ['gzip data', gzipSync(JSON.stringify({ model: KIKUYU }))],
])('S05 the message says that the body is %s', async (what, bytes) => {
  const { status, body } = await svc.request('/v1/asr/sessions', {
    method: 'POST',
    headers: { authorization: `Bearer ${svc.apiKey}`, 'content-type': 'application/json' },
    body: bytes,
  });
  expect(status).toBe(400);
  expect(body.error).toMatchObject({
    code: 'invalid_json',
    message: expect.stringContaining(`is ${what}`),
  });
});

test.each([
  ['129 characters', 'k'.repeat(129)],
  ['empty', ''],
  ['a space', 'a b'],
  ['a slash', 'a/b'],
  ['letters beyond ASCII', 'caf\u00e9'],
])('S15 returns 400 for an Idempotency-Key with %s', async (_what, value) => {
  const headers = { 'idempotency-key': value };
  const { status, body } = await svc.refusedSession({ model: KIKUYU }, { headers });
  expect(status).toBe(400);
  expect(body.error.code).toBe('invalid_idempotency_key');
});
