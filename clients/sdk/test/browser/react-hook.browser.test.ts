import { join } from 'node:path';
import { EXAMPLE_SESSION } from '@svc-asr/protocol/documents/examples.ts';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SvcClient } from '@svc-asr/sdk';
import { countLiveTracks } from './live-tracks.ts';
import { RECORDING, servePage, type PageServer } from './page-server.ts';

/** The React hook with every kind of refusal, before, during and after opening. The microphone never stays on. */
const RESOLVE_DIR = join(import.meta.dirname, '../../../examples/react');
const UNMOUNTABLE = `
  import { createRoot } from 'react-dom/client';
  import { createElement, StrictMode } from 'react';
  import { useTranscript } from './use-transcript.ts';
  function App() {
    const { state, now, notice, problem, start, stop } = useTranscript('/session');
    return createElement('main', null,
      createElement('button', { onClick: () => void start() }, 'Start'),
      createElement('button', { onClick: () => void stop() }, 'Stop'),
      createElement('p', { id: 'state' }, state),
      createElement('p', { id: 'now' }, now),
      createElement('p', { id: 'notice' }, notice ?? ''),
      createElement('p', { id: 'problem' }, problem ?? ''));
  }
  const root = createRoot(document.querySelector('#root'));
  root.render(createElement(StrictMode, null, createElement(App)));
  globalThis.unmount = () => root.unmount();
`;

/** For `expect.poll` on a busy machine. */
const PATIENT = { timeout: 30_000 };

let emulator: Emulator;
let browser: Browser;
let server: PageServer;
let page: Page;
let liveTracks: () => Promise<number>;
beforeAll(async () => {
  [emulator, browser] = await Promise.all([
    startEmulator({ texts: ['nĩ wega mũno'] }),
    launchChromium({ microphone: RECORDING, repeat: true }),
  ]);
  const { url: baseUrl, apiKey } = emulator;
  const client = new SvcClient({ baseUrl, apiKey, deadlineMs: 3_000 });
  server = await servePage({ script: UNMOUNTABLE, resolveDir: RESOLVE_DIR, client });
});
afterAll(async () => {
  server.close();
  await Promise.all([browser.close(), emulator.stop()]);
});
beforeEach(async () => {
  page = await browser.newPage();
  liveTracks = await countLiveTracks(page);
});
afterEach(async () => {
  emulator.faults.clear();
  await page.close();
  await eventually(async () => {
    const { recent_sessions: recent } = await clientOf().usage.get();
    return recent.every(({ status }) => status !== 'active');
  });
});

function clientOf(): SvcClient {
  return new SvcClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
}

async function reservedMs(): Promise<number> {
  return (await clientOf().usage.get()).reserved_ms;
}

async function start(): Promise<void> {
  await page.goto(server.url);
  await page.getByRole('button', { name: 'Start' }).click();
}

async function waitForState(state: string): Promise<void> {
  await page.locator('#state', { hasText: new RegExp(`^${state}$`) }).waitFor();
}

async function waitForProblem(text: string): Promise<void> {
  await page.locator('#problem', { hasText: text }).waitFor();
  await waitForState('idle');
}

/** Passes the page's time until it shows a problem, as after a long outage. */
async function passTimeUntilProblem(text: string): Promise<void> {
  await expect
    .poll(
      async () => {
        await page.clock.runFor(1_000);
        return page.locator('#problem').textContent();
      },
      { ...PATIENT, interval: 20 },
    )
    .toContain(text);
  await waitForState('idle');
}

async function listen(): Promise<void> {
  await start();
  await waitForState('listening');
  await expect.poll(liveTracks, PATIENT).toBe(1);
}

const UNAVAILABLE = 'Transcription is not available at the moment.';

describe('before opening', () => {
  test('an account without credit', async () => {
    emulator.faults.arm({ name: 'no-credit', ms: 0, times: 1 });
    await start();
    await waitForProblem(UNAVAILABLE);
    await expect.poll(liveTracks, PATIENT).toBe(0);
  });

  test.each([400, 401, 403, 404, 500])('a session server that answers %i', async (status) => {
    await page.route('**/session', (route) => route.fulfill({ status, body: '{}' }));
    await start();
    await waitForProblem(UNAVAILABLE);
    await expect.poll(liveTracks, PATIENT).toBe(0);
  });

  test('an unreachable session server is shown while the stream retries, and stop ends it', async () => {
    await page.clock.install();
    await page.route('**/session', (route) => route.abort());
    await start();
    await page.locator('#notice', { hasText: 'No connection' }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await passTimeUntilProblem('No connection');
    await expect.poll(liveTracks, PATIENT).toBe(0);
  });

  test('a busy account is shown at once, and the stream starts when it is free', async () => {
    emulator.faults.arm({ name: 'busy-account', ms: 0, times: 8 });
    await start();
    await page.locator('#notice', { hasText: 'Another transcription' }).waitFor();
    await waitForState('listening');
    await page.locator('#now', { hasText: 'nĩ wega' }).waitFor();
    expect(await page.locator('#notice').textContent()).toBe('');
  });
});

describe('while opening', () => {
  test.each([
    ['NotAllowedError', 'Please allow the microphone'],
    ['NotFoundError', 'No microphone was found.'],
    ['NotReadableError', 'Another program is using the microphone.'],
  ])('the browser refuses the microphone with %s', async (name, text) => {
    await page.addInitScript((refusal) => {
      navigator.mediaDevices.getUserMedia = () =>
        Promise.reject(new DOMException('Refused', refusal));
    }, name);
    await start();
    await waitForProblem(text);
    await expect.poll(reservedMs, PATIENT).toBe(0);
  });

  test('the stream fails before the user answers the browser', async () => {
    emulator.faults.arm({ name: 'no-credit', ms: 0, times: 1 });
    await page.addInitScript(() => {
      const { mediaDevices } = navigator;
      const getUserMedia = mediaDevices.getUserMedia.bind(mediaDevices);
      mediaDevices.getUserMedia = async (constraints) => {
        await new Promise((resolve) => Object.assign(globalThis, { allow: resolve }));
        return getUserMedia(constraints);
      };
    });
    await start();
    await waitForProblem(UNAVAILABLE);
    await page.evaluate('globalThis.allow()');
    await page.waitForFunction('globalThis.opened() === 1');
    await expect.poll(liveTracks, PATIENT).toBe(0);
    await waitForState('idle');
  });

  test.each([
    [4400, 'unsupported_subprotocol'],
    [4401, 'invalid_session_credential'],
    [4403, 'account_inactive'],
  ])('the service refuses the stream with %i', async (code, reason) => {
    await grantWithoutReservation(page);
    await page.routeWebSocket(/asr\/stream/, (socket) => void socket.close({ code, reason }));
    await start();
    await waitForProblem(UNAVAILABLE);
    await expect.poll(liveTracks, PATIENT).toBe(0);
  });

  test('a stream that never opens is shown while it retries, and ends with the microphone off', async () => {
    await page.clock.install();
    await grantWithoutReservation(page);
    await refuseSockets(page);
    await start();
    await page.locator('#notice', { hasText: 'No connection' }).waitFor();
    await passTimeUntilProblem('No connection');
    await expect.poll(liveTracks, PATIENT).toBe(0);
  });
});

describe('after opening', () => {
  test.each([
    [1008, 'too_many_errors'],
    [1009, 'message_too_large'],
    [4403, 'account_inactive'],
  ])('the service ends the stream with %i', async (code, reason) => {
    let end: (() => void) | undefined;
    await page.routeWebSocket(/asr\/stream/, (socket) => {
      socket.connectToServer();
      end = () => void socket.close({ code, reason });
    });
    await listen();
    await page.locator('#now', { hasText: 'nĩ wega' }).waitFor();
    end?.();
    await waitForProblem(UNAVAILABLE);
    await expect.poll(liveTracks, PATIENT).toBe(0);
  });

  test('the session fails and the next one is refused', async () => {
    emulator.faults.arm({ name: 'engine-crash', ms: 1_500, times: 1 });
    await listen();
    emulator.faults.arm({ name: 'no-credit', ms: 0, times: 1 });
    await waitForProblem(UNAVAILABLE);
    await expect.poll(liveTracks, PATIENT).toBe(0);
  });

  test('three failed starts leave no live microphone, and the fourth works', async () => {
    await page.goto(server.url);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      emulator.faults.arm({ name: 'no-credit', ms: 0, times: 1 });
      await page.getByRole('button', { name: 'Start' }).click();
      await waitForProblem(UNAVAILABLE);
    }
    await expect.poll(liveTracks, PATIENT).toBe(0);
    await page.getByRole('button', { name: 'Start' }).click();
    await waitForState('listening');
    expect(await liveTracks()).toBe(1);
    await page.getByRole('button', { name: 'Stop' }).click();
    await waitForState('idle');
    expect(await liveTracks()).toBe(0);
  });
});

describe('unmounting', () => {
  test.each(['listening', 'opening'])(
    'while %s releases the microphone and the session',
    async (state) => {
      await start();
      await waitForState(state === 'opening' ? '(opening|listening)' : state);
      await page.evaluate('globalThis.unmount()');
      await page.waitForFunction('globalThis.opened() === 1');
      await expect.poll(liveTracks, PATIENT).toBe(0);
      await expect.poll(reservedMs, PATIENT).toBe(0);
    },
  );
});

/** A refused stream leaves its reservation, which would block the next test's session. */
async function grantWithoutReservation(target: Page): Promise<void> {
  await target.route('**/session', (route) =>
    route.fulfill({ status: 201, body: JSON.stringify(EXAMPLE_SESSION) }),
  );
}

/** Browsers refuse a socket with an untrusted certificate like this: at once and without a reason. */
async function refuseSockets(target: Page): Promise<void> {
  await target.addInitScript(() => {
    const Real = globalThis.WebSocket;
    globalThis.WebSocket = class extends Real {
      constructor(_: string | URL, protocols?: string | string[]) {
        // Nothing listens at the discard port.
        super('ws://127.0.0.1:9', protocols);
      }
    };
  });
}
