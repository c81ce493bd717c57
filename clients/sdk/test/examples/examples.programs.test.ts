import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { listen } from '@svc-asr/runtime/listen.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const FIXTURE = join(ROOT, 'core/models/fixtures/dholuo-1.wav');
const run = promisify(execFile);

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulatorOn(await createTestDatabase(), { texts: ['erokamano ahinya'] });
});
afterAll(() => emulator.stop());

function settings(): NodeJS.ProcessEnv {
  return { ...process.env, PORT: '0', SVC_BASE_URL: emulator.url, SVC_API_KEY: emulator.apiKey };
}

test.each(['browser', 'node-file', 'telephony'])(
  'the command of the README of %s is there',
  async (name) => {
    const readme = await readFile(join(ROOT, 'clients/examples', name, 'README.md'), 'utf8');
    const [, program = ''] = /^npx node (\S+)/m.exec(readme) ?? [];
    expect(program).toMatch(new RegExp(`^clients/examples/${name}/`));
    await access(join(ROOT, program));
  },
);

test('browser: a browser that leaves cancels the request of its backend', async () => {
  const service = createServer();
  const port = await listen(service);
  const backend = spawn(process.execPath, [join(ROOT, 'clients/examples/browser/server.ts')], {
    env: { ...settings(), SVC_BASE_URL: `http://127.0.0.1:${port}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = await once(backend.stdout.setEncoding('utf8'), 'data');
    const browser = new AbortController();
    const { signal } = browser;
    const left = fetch(`${String(line).trim()}/session`, { method: 'POST', signal });
    const [, response] = await once(service, 'request');
    const askedAt = performance.now();
    browser.abort();
    await expect(left).rejects.toMatchObject({ name: 'AbortError' });
    await once(response, 'close');
    // The backend's own deadline is 3 s.
    expect(performance.now() - askedAt).toBeLessThan(2_500);
  } finally {
    backend.kill();
    service.closeAllConnections();
    service.close();
  }
});

test('node-file prints the text of a WAV file', async () => {
  const program = join(ROOT, 'clients/examples/node-file/transcribe.ts');
  const { stdout, stderr } = await run(process.execPath, [program, FIXTURE, 'svc-asr-dholuo-v1'], {
    env: settings(),
  });
  expect(stdout).toBe('erokamano ahinya\n');
  expect(stderr).toMatch(/s charged/);
});

test('telephony: transcribes a call in 8 kHz mu-law while another caller sends garbage', async () => {
  const bridge = spawn(process.execPath, [join(ROOT, 'clients/examples/telephony/bridge.ts')], {
    env: settings(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = await once(bridge.stdout.setEncoding('utf8'), 'data');
    const url = String(line).trim();
    const stranger = new WebSocket(url);
    await once(stranger, 'open');
    stranger.send('no media frame');
    expect((await once(stranger, 'close'))[0]).toBe(1007);
    const call = new WebSocket(url);
    const told: { event: string; text?: string; end_ms?: number; reason?: string }[] = [];
    call.on('message', (data: Buffer) => told.push(JSON.parse(data.toString('utf8'))));
    await once(call, 'open');
    const { stdout } = await run(
      'ffmpeg',
      ['-v', 'error', '-i', FIXTURE, '-f', 'mulaw', '-ar', '8000', '-'],
      {
        encoding: 'buffer',
      },
    );
    call.send(JSON.stringify({ event: 'start', start: { callSid: 'CA1' } }));
    for (let at = 0; at < stdout.byteLength; at += 160) {
      const payload = stdout.subarray(at, at + 160).toString('base64');
      call.send(JSON.stringify({ event: 'media', media: { payload } }));
    }
    call.send(JSON.stringify({ event: 'stop' }));
    await once(call, 'close');
    const durationMs = stdout.byteLength / 8;
    const final = told.find((each) => each.event === 'final');
    expect(final).toMatchObject({ callSid: 'CA1', text: 'erokamano ahinya' });
    expect(Math.abs((final?.end_ms ?? 0) - durationMs)).toBeLessThanOrEqual(2);
    expect(told.at(-1)).toMatchObject({ event: 'ended', reason: 'completed' });
  } finally {
    bridge.kill();
  }
});
