import { request } from 'node:http';
import { SvcClient } from '@svc-asr/sdk';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Emulator, Fault } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import type { CompatibleServer, Limits } from '../src/index.ts';
import { startWithLimits } from './compatible-service.ts';
import { encode, SPEECH_FILE, SPEECH_MS } from '@svc-asr/testing/speech/audio-files.ts';

/** Sessions behind requests: their number, their charge and their end. */

const TEXT = 'nĩ wega mũno';
const TIMES = 110;

let emulator: Emulator;
let server: CompatibleServer;
let wav: Buffer;
/** The sentence many times: longer than a session may be. */
let long: Buffer;
beforeAll(async () => {
  emulator = await startEmulatorOn(await createTestDatabase(), { texts: [TEXT] });
  wav = await encode('wav');
  long = await encode('opus', ['-stream_loop', String(TIMES - 1), '-i', SPEECH_FILE]);
});
afterAll(() => emulator.stop());
afterEach(async () => {
  await server.stop();
  emulator.faults.assertAllMet();
});

async function start(limits: Partial<Limits> = {}): Promise<void> {
  server = await startWithLimits(emulator, limits);
}

function arm(name: Fault['name'], ms = 1_000): void {
  emulator.faults.arm({ name, ms, times: 1 });
}

async function post(file: Buffer, fields: Record<string, string> = {}): Promise<Response> {
  const form = new FormData();
  form.append('model', 'svc-asr-kikuyu-v1');
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(file)]), 'speech.bin');
  return fetch(`${server.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${emulator.apiKey}` },
    body: form,
  });
}

function usage() {
  const { url: baseUrl, apiKey } = emulator;
  return new SvcClient({ baseUrl, apiKey }).usage.get();
}

function metric(name: string): number {
  const line = server.metrics
    .text()
    .split('\n')
    .find((text) => text.startsWith(name));
  return Number(line?.split(' ').at(-1) ?? 0);
}

/** Begins an upload that sends no end. */
function beginUpload(file: Buffer): { cut(): void } {
  const boundary = 'cut';
  const head = (disposition: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`;
  const upload = request(`${server.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${emulator.apiKey}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
    },
  });
  upload.on('error', () => undefined);
  upload.write(`${head('name="model"')}svc-asr-kikuyu-v1\r\n${head('name="file"; filename="a"')}`);
  upload.write(file);
  return { cut: () => upload.destroy() };
}

test('the seconds in the answers are the seconds that the account was charged', async () => {
  await start();
  const before = await usage();
  let seconds = 0;
  for (const file of [wav, long, wav]) {
    const { usage: charged } = await (await post(file)).json();
    seconds += charged.seconds;
  }
  const { consumed_ms, reserved_ms } = await usage();
  expect(seconds).toBeGreaterThan((TIMES * SPEECH_MS) / 1000 / 2);
  expect(consumed_ms - before.consumed_ms).toBe(seconds * 1000);
  expect(reserved_ms).toBe(0);
  expect(metric('svc_compatible_billed_seconds_total')).toBe(seconds);
});

test('a file longer than a session is one transcript with continuous times', async () => {
  await start();
  const fields = { response_format: 'verbose_json', 'timestamp_granularities[]': 'word' };
  const { duration, words } = await (await post(long, fields)).json();
  expect(Math.abs(duration - (TIMES * SPEECH_MS) / 1000)).toBeLessThan(1);
  const starts: number[] = words.map((word: { start: number }) => word.start);
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  expect(starts.at(-1)).toBeGreaterThan(duration - 35);
  const [last, beforeLast] = (await usage()).recent_sessions;
  expect(last?.audio_ms).toBeLessThan(300_000);
  expect(beforeLast?.audio_ms).toBeGreaterThan(200_000);
});

test('a file that waits its turn does not take the place of a long one between two of its sessions', async () => {
  await start({ sessionWaitMs: 120_000 });
  const first = post(long);
  await expect.poll(async () => (await usage()).recent_sessions[0]?.status).toBe('active');
  const second = post(wav);
  await expect.poll(() => metric('svc_compatible_waits_total')).toBe(1);
  expect((await first).status).toBe(200);
  expect((await second).status).toBe(200);
  const [last, beforeLast, third] = (await usage()).recent_sessions;
  expect(last?.audio_ms).toBeLessThan(2 * SPEECH_MS);
  const longMs = (beforeLast?.audio_ms ?? 0) + (third?.audio_ms ?? 0);
  expect(longMs).toBeGreaterThan(TIMES * SPEECH_MS * 0.5);
  expect(third?.audio_ms).toBeGreaterThan(200_000);
});

test('a cut connection ends the decoder and the session, and the charge stops', async () => {
  await start();
  const before = await usage();
  const upload = beginUpload(long.subarray(0, long.byteLength / 2));
  await expect.poll(async () => (await usage()).recent_sessions[0]?.status).toBe('active');
  await expect.poll(() => metric('svc_compatible_decoders')).toBe(1);
  upload.cut();
  await expect.poll(() => metric('svc_compatible_decoders')).toBe(0);
  await expect.poll(() => metric('svc_compatible_streams')).toBe(0);
  await expect.poll(async () => (await usage()).reserved_ms).toBe(0);
  const { consumed_ms } = await usage();
  expect(consumed_ms - before.consumed_ms).toBeLessThan((TIMES * SPEECH_MS) / 1.9);
  // The account's one session is free again.
  expect((await post(wav)).status).toBe(200);
});

test('survives a restart of the service in mid-file', async () => {
  arm('restart');
  await start();
  expect(await (await post(wav)).json()).toMatchObject({ text: TEXT });
  // If all audio was there before the restart, the answer is too. One restart waits for the other.
  await emulator.restart();
});

test('a request waits while the account uses its one session', async () => {
  arm('engine-pause');
  await start();
  const first = post(wav);
  await expect.poll(async () => (await usage()).recent_sessions[0]?.status).toBe('active');
  const second = post(wav);
  await expect.poll(() => metric('svc_compatible_waits_total')).toBe(1);
  emulator.faults.clear();
  expect((await first).status).toBe(200);
  expect((await second).status).toBe(200);
});

test('a request that has waited too long is refused with 429 and our sentence', async () => {
  arm('engine-pause');
  await start({ sessionWaitMs: 300 });
  const first = post(wav);
  await expect.poll(async () => (await usage()).recent_sessions[0]?.status).toBe('active');
  const refused = await post(wav);
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await refused.json()).toMatchObject({
    error: {
      type: 'requests',
      code: 'rate_limit_exceeded',
      svc_code: 'concurrency_limit_exceeded',
    },
  });
  emulator.faults.clear();
  expect((await first).status).toBe(200);
});

test('an account without credit is refused with 402', async () => {
  arm('no-credit');
  await start();
  const refused = await post(wav);
  expect(refused.status).toBe(402);
  expect(refused.headers.get('x-should-retry')).toBe('false');
  expect(await refused.json()).toMatchObject({
    error: { type: 'insufficient_quota', message: expect.stringContaining('Add credit') },
  });
});

test.each([
  ['connectionsPerAccount', 429],
  ['connectionsPerAddress', 429],
  ['connections', 503],
] as const)('%s limits what is open at once', async (name, status) => {
  await start({ [name]: 1 });
  const upload = beginUpload(wav.subarray(0, 4_000));
  await expect.poll(() => metric('svc_compatible_connections')).toBe(1);
  const refused = await post(wav);
  expect(refused.status).toBe(status);
  const { error } = await refused.json();
  expect(error.svc_code ?? error.code).toBe('too_many_connections');
  upload.cut();
  await expect.poll(() => metric('svc_compatible_connections')).toBe(0);
  expect((await post(wav)).status).toBe(200);
});

test('a body that stops arriving is refused with 408', async () => {
  await start({ idleMs: 200 });
  const upload = beginUpload(wav.subarray(0, 4_000));
  await expect.poll(() => metric('svc_compatible_refusals_total{reason="bad_request"}')).toBe(1);
  await expect.poll(() => metric('svc_compatible_decoders')).toBe(0);
  upload.cut();
});

test('drain lets a request finish and refuses new ones', async () => {
  arm('engine-pause');
  await start();
  const first = post(wav);
  await expect.poll(async () => (await usage()).recent_sessions[0]?.status).toBe('active');
  const drained = server.drain(60_000);
  const refused = await post(wav);
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ error: { code: 'service_restarting' } });
  emulator.faults.clear();
  expect((await first).status).toBe(200);
  await drained;
});
