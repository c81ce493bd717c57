import { openStream } from '@svc-asr/sdk/stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { clientOf, KIKUYU, speech, streamOf } from '../emulator-client.ts';

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulatorOn(await createTestDatabase(), {
    texts: ['nĩ wega mũno'],
    idleTimeoutMs: 1_500,
  });
});
afterAll(() => emulator.stop());

test('with getSession an idle stream closes its session, and the next audio opens a new one', async () => {
  const stream = streamOf(emulator);
  const resumed = new Promise<string>((resolve) => {
    stream.on('reconnecting', ({ why }) => resolve(why));
  });
  const rested = new Promise<void>((resolve) => {
    stream.on('final', () => resolve());
  });
  await stream.write(speech(1_000));
  // Without a flush or more audio, the stream ends the utterance by itself and goes idle.
  await rested;
  const client = clientOf(emulator);
  await expect.poll(async () => (await client.usage.get()).reserved_ms).toBe(0);
  await stream.write(speech(1_000));
  expect(await resumed).toBe('resume');
  const { finals, sessions } = await stream.finish();
  expect(finals.map((final) => [final.start_ms, final.end_ms])).toEqual([
    [0, 1_000],
    [1_000, 2_000],
  ]);
  expect(sessions).toHaveLength(2);
});

test('a stream without an open session finishes at once', async () => {
  const stream = streamOf(emulator);
  const rested = new Promise<void>((resolve) => {
    stream.on('final', () => resolve());
  });
  await stream.write(speech(500));
  await rested;
  await expect.poll(() => stream.sessionId).toBeNull();
  expect((await stream.finish()).text).toBe('nĩ wega mũno');
});

test('without getSession the stream ends with 4408 idle_timeout, which is not retryable', async () => {
  const session = await clientOf(emulator).sessions.create({ model: KIKUYU });
  const stream = openStream({ session });
  await stream.write(speech(100));
  expect(await stream.closed).toMatchObject({
    code: 4408,
    reason: 'idle_timeout',
    retryable: false,
    sessionId: session.id,
  });
});
