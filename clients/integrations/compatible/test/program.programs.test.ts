import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { CompatibleProcess } from '@svc-asr/local/compatible-process.ts';
import { SPEECH_FILE } from '@svc-asr/testing/speech/audio-files.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MAIN = join(import.meta.dirname, '../src/main.ts');
const TOKEN = 'metrics-token-of-the-test';

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulatorOn(await createTestDatabase(), { texts: ['nĩ wega'] });
});
afterAll(() => emulator.stop());

async function fails(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { PATH } = process.env;
  const run = promisify(execFile)(process.execPath, [MAIN, ...args], { env: { PATH, ...env } });
  const error = await run.then(
    () => null,
    (cause: { code: number; stderr: string }) => cause,
  );
  expect(error?.code).toBe(2);
  return error?.stderr ?? '';
}

test('serves, reports its state, and ends on SIGTERM without writing anything of a request', async () => {
  const program = await CompatibleProcess.start({
    baseUrl: emulator.url,
    env: { SVC_COMPATIBLE_METRICS_TOKEN: TOKEN },
  });
  try {
    const form = new FormData();
    form.append('model', 'svc-asr-kikuyu-v1');
    form.append('file', new Blob([await readFile(SPEECH_FILE)]), 'a.wav');
    const response = await fetch(`${program.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${emulator.apiKey}` },
      body: form,
    });
    expect(await response.json()).toMatchObject({ text: 'nĩ wega' });
    expect((await fetch(`${program.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${program.url}/readyz`)).status).toBe(200);
    expect((await fetch(`${program.url}/metrics`)).status).toBe(401);
    const headers = { authorization: `Bearer ${TOKEN}` };
    const metrics = await (await fetch(`${program.url}/metrics`, { headers })).text();
    expect(metrics).toContain('svc_compatible_requests_total{door="transcriptions"} 1');
    program.signal('SIGTERM');
    expect(await program.exited()).toBe(0);
    expect(program.lines).toEqual([]);
  } finally {
    program.signal('SIGKILL');
  }
});

test('without ffmpeg it says so at the start, in its readiness and to callers, and serves PCM', async () => {
  const args = ['--port', '0', '--ffmpeg', '/no/ffmpeg'];
  const program = await CompatibleProcess.start({ baseUrl: emulator.url, args });
  try {
    expect(program.lines).toEqual([
      expect.stringMatching(
        /warning ffmpeg_missing: ffmpeg cannot be started, so files .* --ffmpeg/,
      ),
    ]);
    const ready = await fetch(`${program.url}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([
      200,
      expect.stringContaining('ffmpeg cannot be started'),
    ]);
    const headers = { authorization: `Bearer ${emulator.apiKey}` };
    const form = new FormData();
    form.append('model', 'svc-asr-kikuyu-v1');
    form.append('file', new Blob([await readFile(SPEECH_FILE)]), 'a.wav');
    const refused = await fetch(`${program.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers,
      body: form,
    });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ error: { code: 'ffmpeg_missing' } });
  } finally {
    program.signal('SIGKILL');
  }
});

test('without a metrics token there are no metrics', async () => {
  const program = await CompatibleProcess.start({ baseUrl: emulator.url });
  try {
    expect((await fetch(`${program.url}/metrics`)).status).toBe(404);
  } finally {
    await program.stop();
  }
});

test('does not take keys in clear text from other machines', async () => {
  const env = { SVC_BASE_URL: emulator.url };
  expect(await fails(['--host', '0.0.0.0', '--port', '0'], env)).toContain('clear text');
});

test.each([
  [['--port', 'x'], 'whole number'],
  [['--language', 'en'], 'ki, luo'],
  [['--tls-cert', '/dev/null'], 'together'],
  [['--trusted-proxy', 'proxy'], 'Invalid proxy'],
])('%j is refused with what to do', async (args, message) => {
  expect(await fails(args, { SVC_BASE_URL: emulator.url })).toContain(message);
});

test('needs the address of the service', async () => {
  expect(await fails([])).toContain('SVC_BASE_URL');
});
