import { afterAll, expect, test } from 'vitest';
import { DHOLUO, KIKUYU, startService } from '@svc-asr/testing/service/service.ts';

const svc = await startService();
afterAll(() => svc.stop());

test('M01 M02 M03 lists both models with every field, without a key', async () => {
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
