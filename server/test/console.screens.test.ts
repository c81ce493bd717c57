import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setOperator } from '../src/accounts/operators.ts';
import { joinWaitlist } from '../src/accounts/waitlist.ts';
import { launchChromium, openPage, signInAs, startConsoleSite } from './console-chromium.ts';
import { fillAccount } from './console-history.ts';
import { PICTURES, takePicture } from './console-pictures.ts';
import type { ConsoleService } from './console-service.ts';

/** Every screen and state, on a desk and on a small phone, light and dark: nothing axe objects to, nothing cut off. */

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

let service: ConsoleService;
let browser: Browser;
beforeAll(async () => {
  [service, browser] = await Promise.all([startConsoleSite(), launchChromium()]);
  const db = service.database.pool;
  await fillAccount(service, await service.admit('amina@example.com'));
  await setOperator(db, { email: 'amina@example.com', isOperator: true });
  const purpose = 'Farmers call our line in Kikuyu; we want to answer them in writing.';
  await joinWaitlist(db, { email: 'otieno@example.com', name: '', purpose });
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

interface Scene {
  readonly name: string;
  readonly path: string;
  readonly shown: (page: Page) => Promise<unknown>;
}

const PUBLIC: Scene[] = [
  { name: 'public', path: '/', shown: (page) => page.getByRole('heading', { level: 1 }).waitFor() },
  {
    name: 'public-sw',
    path: '/sw',
    shown: (page) => page.getByRole('heading', { level: 1 }).waitFor(),
  },
  {
    name: 'waitlist-invalid',
    path: '/#waitlist',
    async shown(page) {
      await page.getByRole('button', { name: 'Join the waitlist' }).click();
      await page.getByText('Enter an e-mail address').waitFor();
    },
  },
  {
    name: 'sign-in',
    path: '/app',
    shown: (page) => page.getByRole('heading', { name: 'Sign in' }).waitFor(),
  },
  {
    name: 'sign-in-code-wrong',
    path: '/app',
    async shown(page) {
      await page.getByLabel('E-mail address').fill(`stranger${Math.random()}@example.com`);
      await page.getByRole('button', { name: 'Send me a code' }).click();
      await page.getByLabel('Code').fill('1234 5678');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
    },
  },
];

const SIGNED_IN: Scene[] = [
  {
    name: 'overview',
    path: '/app',
    shown: (page) => page.getByRole('heading', { name: 'Recent sessions' }).waitFor(),
  },
  {
    name: 'overview-table',
    path: '/app',
    async shown(page) {
      await page.getByText('Show as a table').click();
      await page.getByRole('columnheader', { name: 'Day' }).waitFor();
    },
  },
  {
    name: 'keys',
    path: '/app/keys',
    shown: (page) => page.getByRole('heading', { name: 'phone line' }).waitFor(),
  },
  {
    name: 'keys-revoke',
    path: '/app/keys',
    async shown(page) {
      await page.getByRole('button', { name: 'Revoke' }).first().click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'playground',
    path: '/app/playground',
    shown: (page) => page.getByRole('button', { name: 'Start speaking' }).waitFor(),
  },
  {
    name: 'playground-error',
    path: '/app/playground',
    async shown(page) {
      const file = { name: 'notes.txt', mimeType: 'audio/wav', buffer: Buffer.from('not audio') };
      await page.locator('input[type=file]').setInputFiles(file);
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'settings',
    path: '/app/settings',
    shown: (page) => page.getByRole('heading', { name: 'Team' }).waitFor(),
  },
  {
    name: 'settings-erase',
    path: '/app/settings',
    async shown(page) {
      await page.getByRole('button', { name: 'Erase this account' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'operator',
    path: '/app/waitlist',
    shown: (page) => page.getByRole('heading', { name: 'otieno@example.com' }).waitFor(),
  },
  {
    name: 'menu',
    path: '/app',
    async shown(page) {
      await page.locator('summary').filter({ hasText: 'amina' }).click();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
    },
  },
  {
    name: 'not-found',
    path: '/app/nowhere',
    shown: (page) => page.getByRole('heading', { name: 'There is nothing here' }).waitFor(),
  },
  {
    name: 'overview-offline',
    path: '/app',
    async shown(page) {
      await page.route('**/console-api/overview', (route) => route.abort());
      await page.reload();
      await page.getByRole('button', { name: 'Try again' }).waitFor();
    },
  },
  {
    name: 'overview-loading',
    path: '/app',
    async shown(page) {
      await page.route('**/console-api/overview', () => undefined);
      await page.reload();
      await page.getByText('Loading').waitFor({ state: 'attached' });
    },
  },
];

const NEWCOMER: Scene[] = [
  {
    name: 'empty-overview',
    path: '/app',
    shown: (page) => page.getByText('No sessions').waitFor(),
  },
  {
    name: 'empty-keys',
    path: '/app/keys',
    shown: (page) => page.getByText('No keys yet').waitFor(),
  },
  {
    name: 'keys-create',
    path: '/app/keys',
    async shown(page) {
      await page.getByRole('button', { name: 'Create a key' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'keys-shown-once',
    path: '/app/keys',
    async shown(page) {
      await page.getByRole('button', { name: 'Create a key' }).click();
      await page.getByLabel('Name').fill('production server');
      await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
      await page.getByRole('button', { name: 'I have stored it' }).waitFor();
      await page.getByText('Try it from your server').click();
    },
  },
  {
    name: 'overview-waiting',
    path: '/app',
    async shown(page) {
      await callApi(page, '/playground/session', { model: 'svc-asr-kikuyu-v1' });
      await page.reload();
      await page.getByText('A session is waiting for its client').waitFor();
    },
  },
  {
    name: 'overview-sw',
    path: '/app',
    async shown(page) {
      await callApi(page, '/settings/language', { language: 'sw' });
      await page.reload();
      await page.getByRole('heading', { name: 'Muhtasari' }).waitFor();
    },
  },
  {
    name: 'settings-sw',
    path: '/app/settings',
    shown: (page) => page.getByRole('heading', { name: 'Timu' }).waitFor(),
  },
];

async function callApi(page: Page, path: string, body: unknown): Promise<void> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const request = JSON.stringify({ ...init, body: JSON.stringify(body) });
  await page.evaluate(`fetch('/console-api${path}', ${request})`);
}

const DEVICES = {
  desktop: { viewport: { width: 1280, height: 860 }, deviceScaleFactor: 1 },
  phone: { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, hasTouch: true },
} as const;

type Look = readonly [device: keyof typeof DEVICES, colorScheme: 'light' | 'dark'];
/** Both layouts and both palettes; for pictures every pair of them. */
const LOOKS: Look[] = [
  ['desktop', 'light'],
  ['phone', 'dark'],
  ...(PICTURES === undefined
    ? []
    : ([
        ['desktop', 'dark'],
        ['phone', 'light'],
      ] as Look[])),
];

test.each(LOOKS)(
  'no screen on a %s in %s has an axe violation or runs over the edge',
  async (device, colorScheme) => {
    const options = { ...DEVICES[device], colorScheme, reducedMotion: 'reduce' as const };
    const { context, page, complaints } = await openPage(browser, options);
    const look = (scenes: Scene[]) => visit(page, { scenes, device, colorScheme });
    const problems = await look(PUBLIC);
    await signInAs(page, { service, email: 'amina@example.com' });
    problems.push(...(await look(SIGNED_IN)));
    await context.clearCookies();
    const newcomer = `newcomer-${device}-${colorScheme}@example.com`;
    await service.admit(newcomer);
    await signInAs(page, { service, email: newcomer });
    problems.push(...(await look(NEWCOMER)));
    expect([...problems, ...complaints]).toEqual([]);
    await context.close();
  },
  240_000,
);

/** What is wrong with these screens, in sentences. */
async function visit(
  page: Page,
  input: { scenes: Scene[]; device: string; colorScheme: string },
): Promise<string[]> {
  const problems: string[] = [];
  for (const scene of input.scenes) {
    await page.goto(service.url + scene.path);
    await scene.shown(page);
    const overPixels = await page.evaluate<number>(OVERFLOW);
    if (overPixels > 0) problems.push(`${scene.name} is ${overPixels} pixels too wide`);
    problems.push(...(await violations(page)).map((violation) => `${scene.name}: ${violation}`));
    await takePicture(page, `${scene.name}-${input.device}-${input.colorScheme}`);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  }
  return problems;
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const results = await page.evaluate<AxeResults>('axe.run()');
  return results.violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`,
  );
}
