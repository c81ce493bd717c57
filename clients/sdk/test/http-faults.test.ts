import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SvcClient } from '../src/index.ts';
import { openStream } from '../src/stream.ts';

/** Faults between a client and the service, and a final that comes late, as the SDK and plain fetch meet them. */

const MODEL = 'svc-asr-kikuyu-v1';
const TEXT = 'nĩ wega mũno';
const LATE_MS = 900;

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulatorOn(await createTestDatabase(), { texts: [TEXT] });
});
afterEach(() => emulator.stop());

function create(signal: AbortSignal | null = null): Promise<Response> {
  return fetch(`${emulator.url}/v1/asr/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${emulator.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL }),
    signal,
  });
}

test('http-500: a page that the service did not send; nothing is retried or reserved', async () => {
  emulator.faults.arm({ name: 'http-500', ms: 0, times: 2 });
  const response = await create();
  expect(response.status).toBe(500);
  expect(response.headers.get('content-type')).toContain('text/html');
  const client = new SvcClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  const refused = client.sessions.create({ model: MODEL });
  await expect(refused).rejects.toMatchObject({ status: 500, retryable: false });
  expect((await client.usage.get()).recent_sessions).toEqual([]);
  emulator.faults.assertAllMet();
});

test('http-hang: no response until the client gives up, and the emulator still stops', async () => {
  emulator.faults.arm({ name: 'http-hang', ms: 0, times: 2 });
  await expect(create(AbortSignal.timeout(300))).rejects.toThrow(/timeout|aborted/i);
  const hanging = create().catch((error: unknown) => error);
  await expect.poll(() => emulator.faults.armed).toEqual([]);
  await emulator.restart();
  expect(await hanging).toBeInstanceOf(TypeError);
  expect((await create()).status).toBe(201);
});

test('revoked-key: 401 revoked_api_key, which no retry helps', async () => {
  emulator.faults.arm({ name: 'revoked-key', ms: 0, times: 1 });
  const client = new SvcClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  await expect(client.sessions.create({ model: MODEL })).rejects.toMatchObject({
    status: 401,
    code: 'revoked_api_key',
    retryable: false,
  });
});

test('late-final: deltas come in time, and only the final is late', async () => {
  emulator.faults.arm({ name: 'late-final', ms: LATE_MS, times: 1 });
  const client = new SvcClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  const stream = openStream({ session: await client.sessions.create({ model: MODEL }) });
  const times = new Map<string, number>();
  for (const type of ['delta', 'final'] as const) {
    stream.on(type, () => times.set(type, performance.now()));
  }
  await stream.write(new Uint8Array(3 * 32_000));
  await expect.poll(() => times.has('delta')).toBe(true);
  const flushed = performance.now();
  expect((await stream.flush()).text).toBe(TEXT);
  const finalMs = (times.get('final') ?? 0) - flushed;
  expect(finalMs).toBeGreaterThanOrEqual(LATE_MS - 5);
  expect(times.get('delta')).toBeLessThan(flushed);
  await stream.close();
});
