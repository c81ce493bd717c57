import { afterAll, beforeAll, expect, test } from 'vitest';
import { DHOLUO, KIKUYU, startService, type Service } from './service.ts';

let svc: Service;
beforeAll(async () => {
  svc = await startService();
});
afterAll(() => svc.stop());

test('M01 M02 M03 anybody may list the two models, each whole', async () => {
  const { status, body } = await svc.models();
  expect(status).toBe(200);
  const audio = { encoding: 'pcm_s16le', sample_rate_hz: 16_000, channels: 1 };
  const common = { object: 'model', capability: 'asr.streaming', max_audio_seconds: 300, audio };
  expect(body).toEqual({
    object: 'list',
    data: [
      { id: KIKUYU, language: 'Kikuyu', language_code: 'ki', ...common },
      { id: DHOLUO, language: 'Dholuo', language_code: 'luo', ...common },
    ],
  });
});
