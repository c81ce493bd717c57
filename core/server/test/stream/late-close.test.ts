import { expect, test } from 'vitest';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { KIKUYU, startService } from '@svc-asr/testing/service/service.ts';
import { speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';

test('a stream that the sweeper failed while it was served costs what its client was told', async () => {
  const svc = await startService();
  const { body } = await svc.createSession({ model: KIKUYU, max_audio_seconds: 60 });
  const client = await StreamClient.ready(body, { url: svc.streamUrl });
  await client.send(speech({ ms: 1_500 })).flush();
  await svc.database.pool.query('update nodes set retired_at = clock_timestamp()');
  const session = async () => (await svc.usage()).body.recent_sessions[0];
  await eventually(async () => (await session())?.status === 'failed');
  const { billable_ms: receiptMs } = await client.send(speech({ ms: 1_000 })).flush();
  expect(await client.close()).toEqual({ code: 1000, reason: 'completed' });
  expect(await session()).toMatchObject({ status: 'completed', billable_ms: receiptMs });
  expect((await svc.usage()).body.consumed_ms).toBe(receiptMs);
  expect(svc.logged()).toContain('It was settled late.');
  await svc.stop();
});
