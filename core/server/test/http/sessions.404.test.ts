import { afterAll, expect, test } from 'vitest';
import { startService } from '@svc-asr/testing/service/service.ts';

const svc = await startService();
afterAll(() => svc.stop());

test.each([
  'svc-asr-swahili-v1',
  'svc-asr-kikuyu-v2',
  'SVC-ASR-KIKUYU-V1',
  '',
  'toString',
  '\u0000',
])('S06 returns 404 for the model %j', async (model) => {
  const { status, body } = await svc.refusedSession({ model });
  expect(status).toBe(404);
  expect(body.error).toMatchObject({ type: 'model_not_found', code: 'model_not_found' });
});

test('S06 checks the model after the rest of the body', async () => {
  const { status } = await svc.refusedSession({ model: 'nobody', max_audio_seconds: 0 });
  expect(status).toBe(400);
});
