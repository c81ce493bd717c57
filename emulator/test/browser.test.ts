import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../src/emulator.ts';
import { openChromium } from './chromium.ts';
import { clientOf, KIKUYU } from './client.ts';
import { projectWithSdk } from './packed-sdk.ts';

const ROOT = join(import.meta.dirname, '../..');
const FIXTURE = join(ROOT, 'models/fixtures/kikuyu-1.wav');

let emulator: Emulator;
let browser: Browser;
let project: Awaited<ReturnType<typeof projectWithSdk>>;
beforeAll(async () => {
  [emulator, browser, project] = await Promise.all([
    startEmulator({ texts: ['nĩ wega mũno'] }),
    openChromium(FIXTURE),
    projectWithSdk(),
  ]);
}, 120_000);
afterAll(async () => {
  await Promise.all([browser.close(), emulator.stop(), project.remove()]);
});

/** A page with a bundled script, beside a session server. */
async function serve(script: string, options: { resolveDir?: string } = {}): Promise<Server> {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: options.resolveDir ?? project.folder, loader: 'ts' },
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    write: false,
  });
  const html =
    '<!doctype html><meta charset="utf-8"><div id="root"></div><script type="module" src="/s.js"></script>';
  const client = clientOf(emulator);
  const server = createServer((request, response) => {
    if (request.url === '/s.js') {
      response.setHeader('content-type', 'text/javascript').end(outputFiles[0]?.contents);
    } else if (request.url === '/session') {
      void client.sessions
        .create({ model: KIKUYU })
        .then((session) => response.writeHead(201).end(JSON.stringify(session)))
        .catch(() => response.writeHead(503).end('{}'));
    } else response.setHeader('content-type', 'text/html').end(html);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function visit(server: Server): Promise<Page> {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${port}/`);
  return page;
}

test('K03 the installed package in Chromium: microphone to transcript, across a failure, without a key', async () => {
  emulator.faults.arm({ name: 'engine-crash', ms: 1_500, times: 1 });
  const server = await serve(`
    import { openMicrophone } from '@svc-asr/sdk/microphone';
    import { fetchSession, openStream } from '@svc-asr/sdk/stream';
    window.talk = async (ms) => {
      const stream = openStream({ getSession: fetchSession('/session') });
      const seen = { reasons: [], loudest: -100 };
      stream.on('reconnecting', ({ close }) => seen.reasons.push(close.reason));
      const heard = new Promise((resolve) => stream.on('delta', ({ audio_ms }) => audio_ms > ms && resolve()));
      const microphone = await openMicrophone({
        sink: stream,
        onLevel: (db) => (seen.loudest = Math.max(seen.loudest, db)),
      });
      await heard;
      await microphone.stop();
      const { text, final } = await stream.finish();
      return { ...seen, text, sentMs: microphone.sentMs, endMs: final.end_ms, close: await stream.closed };
    };`);
  const page = await visit(server);
  const result = await page.evaluate<{ sentMs: number; endMs: number; loudest: number }>(
    'window.talk(1500)',
  );
  expect(result).toMatchObject({
    text: 'nĩ wega mũno',
    reasons: ['internal_error'],
    close: { code: 1000, reason: 'completed' },
  });
  // It is the fixture that was heard, not silence, and every millisecond of it went to one utterance.
  expect(result.loudest).toBeGreaterThan(-40);
  expect(result.endMs).toBe(Math.round(result.sentMs));
  server.close();
}, 60_000);

test('K03 the part that holds a key refuses to run in a browser', async () => {
  const server = await serve(`
    import { SvcClient } from '@svc-asr/sdk';
    window.attempt = () => {
      try {
        new SvcClient({ baseUrl: location.origin, apiKey: 'svc_live_v1_x' });
        return 'it did';
      } catch (error) {
        return error.code;
      }
    };`);
  const page = await visit(server);
  expect(await page.evaluate('window.attempt()')).toBe('key_in_browser');
  server.close();
});

test('a used session is told as a refused connection where the browser hides why', async () => {
  const server = await serve(`
    import { openStream } from '@svc-asr/sdk/stream';
    window.reuse = async () => {
      const session = await (await fetch('/session', { method: 'POST' })).json();
      const first = openStream({ session });
      await first.flush();
      const second = await openStream({ session }).closed;
      await first.close();
      return second;
    };`);
  const page = await visit(server);
  expect(await page.evaluate('window.reuse()')).toMatchObject({
    code: 1006,
    reason: 'connection_refused',
  });
  server.close();
});

test('the React hook listens, shows and stops', async () => {
  const folder = join(ROOT, 'examples/react');
  const server = await serve(`import './app.tsx';`, { resolveDir: folder });
  const page = await visit(server);
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByText('nĩ wega', { exact: false }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.locator('li', { hasText: 'nĩ wega mũno' }).waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  server.close();
}, 60_000);

test('the browser example listens, shows and stops', async () => {
  const example = spawn(process.execPath, [join(ROOT, 'examples/browser/server.ts')], {
    env: { ...process.env, PORT: '0', SVC_BASE_URL: emulator.url, SVC_API_KEY: emulator.apiKey },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const page = await browser.newPage();
    await page.goto(await firstLine(example));
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('nĩ wega', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('#said p', { hasText: 'nĩ wega mũno' }).waitFor();
    await page.waitForFunction('document.title.includes("charged")');
    expect(await page.locator('#problem').textContent()).toBe('');
  } finally {
    example.kill();
  }
}, 60_000);

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('Its output is not read.');
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  return String(line).trim();
}
