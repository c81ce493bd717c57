import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { clientOf } from '../emulator-client.ts';
import { RECORDING, servePage } from './page-server.ts';

const ROOT = join(import.meta.dirname, '../../../..');

let emulator: Emulator;
let browser: Browser;
beforeAll(async () => {
  [emulator, browser] = await Promise.all([
    startEmulator({ texts: ['nĩ wega mũno'] }),
    launchChromium({ microphone: RECORDING, repeat: true }),
  ]);
});
afterAll(async () => {
  await Promise.all([browser.close(), emulator.stop()]);
});

test('the React hook starts, shows the transcript and stops', async () => {
  const server = await servePage({
    script: `import './app.tsx';`,
    resolveDir: join(ROOT, 'clients/examples/react'),
    client: clientOf(emulator),
  });
  const page = await browser.newPage();
  await page.goto(server.url);
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByText('nĩ wega', { exact: false }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.locator('li', { hasText: 'nĩ wega mũno' }).waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  server.close();
});

test('the browser example starts, shows the transcript and stops', async () => {
  const example = startExample();
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
});

test('the browser example says within 3 s that the browser is offline, and goes on when it is back', async () => {
  const example = startExample();
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(await firstLine(example));
    await page.getByRole('button', { name: 'Start' }).click();
    await page.locator('#now', { hasText: 'nĩ wega' }).waitFor();
    const state = page.locator('#state');
    await context.setOffline(true);
    const cutAt = performance.now();
    await state.getByText('No connection', { exact: false }).waitFor();
    expect(performance.now() - cutAt).toBeLessThan(3_000);
    await context.setOffline(false);
    await state.getByText('Listening').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.waitForFunction('document.title.includes("charged")');
  } finally {
    await context.close();
    example.kill();
  }
});

test('the browser example reports a denied microphone and releases the session', async () => {
  const example = startExample();
  try {
    const page = await browser.newPage();
    await page.addInitScript(() => {
      navigator.mediaDevices.getUserMedia = () =>
        Promise.reject(new DOMException('Permission denied', 'NotAllowedError'));
    });
    await page.goto(await firstLine(example));
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('Please allow the microphone', { exact: false }).waitFor();
    await eventually(async () => (await clientOf(emulator).usage.get()).reserved_ms === 0);
    await expect.poll(() => page.locator('#start').isEnabled(), { timeout: 30_000 }).toBe(true);
  } finally {
    example.kill();
  }
});

function startExample(): ChildProcess {
  return spawn(process.execPath, [join(ROOT, 'clients/examples/browser/server.ts')], {
    env: { ...process.env, PORT: '0', SVC_BASE_URL: emulator.url, SVC_API_KEY: emulator.apiKey },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('Its output is not read.');
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  return String(line).trim();
}
