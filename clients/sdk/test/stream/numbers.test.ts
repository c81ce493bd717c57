import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { openStream } from '@svc-asr/sdk/stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientOf, KIKUYU } from '../emulator-client.ts';

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({ texts: ['ndarĩhire ciringi magana matano'] });
});
afterAll(() => emulator.stop());

test('every session writes numbers as digits, with entities in the time of the stream', async () => {
  emulator.faults.arm({ name: 'engine-crash', ms: 3_000, times: 1 });
  const stream = openStream({
    getSession: () => clientOf(emulator).sessions.create({ model: KIKUYU, maxAudioSeconds: 60 }),
    numbers: true,
  });
  await stream.write(new Uint8Array(64_000));
  await stream.flush();
  await stream.write(new Uint8Array(64_000));
  const { finals, text } = await stream.finish();
  expect(text).toBe('ndarĩhire ciringi magana matano ndarĩhire ciringi magana matano');
  expect(finals).toHaveLength(2);
  for (const { text_formatted, entities = [], words } of finals) {
    expect(text_formatted).toBe('ndarĩhire ciringi 500');
    const times = { start_ms: words[2]?.start_ms, end_ms: words[3]?.end_ms };
    expect(entities).toMatchObject([{ kind: 'amount', value: 500, currency: 'KES', ...times }]);
  }
  expect(finals[1]?.entities?.[0]?.start_ms).toBeGreaterThanOrEqual(2_000);
  emulator.faults.assertAllMet();
});

test('finals have no digits unless they were asked for', async () => {
  const stream = openStream({
    session: await clientOf(emulator).sessions.create({ model: KIKUYU, maxAudioSeconds: 60 }),
  });
  await stream.write(new Uint8Array(64_000));
  const { final } = await stream.finish();
  expect(final).not.toHaveProperty('text_formatted');
});
