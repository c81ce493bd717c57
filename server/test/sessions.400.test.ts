import { afterAll, beforeAll, expect, test } from 'vitest';
import { KIKUYU, startService, type Service } from './service.ts';

let svc: Service;
beforeAll(async () => {
  svc = await startService();
});
afterAll(() => svc.stop());

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
  ['max_audio_seconds null', seconds(null), 'invalid_parameter'],
  ['max_audio_seconds true', seconds(true), 'invalid_parameter'],
])('S05 S07 %s', async (_what, body, code) => {
  const { status, body: answer } = await svc.refusedSession(body);
  expect(status).toBe(400);
  expect(answer.error).toMatchObject({ type: 'invalid_request_error', code });
});

test('S05 bytes that are not UTF-8', async () => {
  const { status, body } = await svc.request('/v1/asr/sessions', {
    method: 'POST',
    headers: { authorization: `Bearer ${svc.apiKey}`, 'content-type': 'application/json' },
    body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  });
  expect(status).toBe(400);
  expect(body.error.code).toBe('invalid_json');
});

test.each([
  ['129 characters', 'k'.repeat(129)],
  ['empty', ''],
  ['a space', 'a b'],
  ['a slash', 'a/b'],
  ['letters beyond ASCII', 'caf\u00e9'],
])('S15 Idempotency-Key: %s', async (_what, value) => {
  const headers = { 'idempotency-key': value };
  const { status, body } = await svc.refusedSession({ model: KIKUYU }, { headers });
  expect(status).toBe(400);
  expect(body.error.code).toBe('invalid_idempotency_key');
});

test('whatever was refused above reserved nothing', async () => {
  expect((await svc.usage()).body).toMatchObject({ reserved_ms: 0, recent_sessions: [] });
});
