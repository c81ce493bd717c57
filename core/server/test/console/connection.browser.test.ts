import type { Page, Route } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { activate } from '../support/activate.ts';
import { openPage, signInAs, startConsoleInChromium } from '../support/console/console-chromium.ts';
import { seen } from '../support/console/console-seen.ts';

/** What the pages show when the network, the server, a file or the sign-in is gone. */

const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);

async function openConsole(email: string, path = '/app'): Promise<Page> {
  const { page } = await openPage(browser);
  await service.admit(email);
  await signInAs(page, { service, email, path });
  return page;
}

/** Signs somebody out on the server, as if the session had expired. */
async function endSessions(email: string): Promise<void> {
  await service.database.pool.query(
    `delete from console_sessions where user_id = (select id from console_users where email = $1)`,
    [email],
  );
}

function reserve(page: Page): Promise<{ id: string }> {
  return page.evaluate(
    `fetch('/console-api/playground/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"model":"svc-asr-kikuyu-v1"}',
    }).then((answer) => answer.json())`,
  );
}

async function signInOver(page: Page, email: string): Promise<void> {
  const dialog = page.getByRole('dialog').filter({ hasText: 'Your session has ended' });
  await dialog.getByRole('button', { name: 'Email me a code' }).click();
  await dialog.getByLabel('Code').fill(await service.mail.takeCode(email));
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'detached' });
}

test('a page that was never visited says that the server is unreachable, and opens when it is back', async () => {
  const page = await openConsole('offline@example.com');
  await page.context().setOffline(true);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByText('The server could not be reached').waitFor();
  await seen(page, 'screen-offline');
  await page.context().setOffline(false);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'Your data' }).waitFor();
  expect(await page.getByText('The server could not be reached').count()).toBe(0);
});

test('a file that a new version dropped reloads the page once, and only once', async () => {
  const page = await openConsole('deploy@example.com');
  const loads: string[] = [];
  page.on('domcontentloaded', () => loads.push(page.url()));
  let missing = 1;
  await page.route('**/assets/settings-screen-*.js', (route) =>
    missing-- > 0 ? route.fulfill({ status: 404, body: '' }) : route.continue(),
  );
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('heading', { name: 'Your data' }).waitFor();
  expect(loads).toEqual([`${service.url}/app/settings`]);

  missing = Infinity;
  await page.goto(`${service.url}/app/settings`);
  await page.getByText('A file of this page is missing').waitFor();
  expect(loads.length).toBe(3);
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
});

test('a screen that fails to render leaves the navigation in place', async () => {
  const page = await openConsole('broken@example.com', '/app/settings');
  await page.route('**/console-api/overview', (route) => route.fulfill({ json: {} }));
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByText('An error stopped this page').waitFor();
  await seen(page, 'screen-broken');
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByText('No keys yet').waitFor();
  expect(await page.getByText('An error stopped this page').count()).toBe(0);
});

test('sign-in opens over the page when the session has ended, and the request continues afterwards', async () => {
  const email = 'expired@example.com';
  const page = await openConsole(email, '/app/keys');
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByLabel('Name').fill('kept name');
  await endSessions(email);
  await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
  await page.getByText('Your session has ended').waitFor();
  await seen(page, 'sign-in-again');
  await signInOver(page, email);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('heading', { name: 'kept name' }).waitFor();
  expect(page.url()).toBe(`${service.url}/app/keys`);
});

test('polling opens the sign-in too, and continues in the same account', async () => {
  const email = 'polled@example.com';
  const { page } = await openPage(browser);
  await service.admit(email);
  await page.clock.install();
  await signInAs(page, { service, email });
  await page.getByRole('heading', { name: 'Recent sessions' }).waitFor();
  await endSessions(email);
  // Each poll comes once. Time that passes while a request is on its way would end it.
  await page.clock.fastForward(31_000);
  await page.getByText('Your session has ended').waitFor();
  await signInOver(page, email);
  const polled = page.waitForResponse((answer) => answer.url().endsWith('/console-api/overview'));
  await page.clock.fastForward(31_000);
  expect((await polled).status()).toBe(200);
});

test('sign-in opens over the page when the session has ended during an outage', async () => {
  const email = 'outage@example.com';
  const page = await openConsole(email, '/app/keys');
  await page.getByText('No keys yet').waitFor();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByLabel('Name').fill('kept name');
  await page.context().setOffline(true);
  await page.getByText('Server unreachable').waitFor();
  await endSessions(email);
  await page.context().setOffline(false);
  await page.getByText('Your session has ended').waitFor();
  await signInOver(page, email);
  expect(await page.getByLabel('Name').inputValue()).toBe('kept name');
});

test('a link into the console works after the sign-in', async () => {
  const { page } = await openPage(browser);
  await service.admit('linked@example.com');
  await page.goto(`${service.url}/app/settings`);
  await page.getByLabel('Email address').fill('linked@example.com');
  await page.getByRole('button', { name: 'Email me a code' }).click();
  await page.getByLabel('Code').fill(await service.mail.takeCode('linked@example.com'));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Your data' }).waitFor();
  expect(page.url()).toBe(`${service.url}/app/settings`);
});

/** Signs somebody in who has an active session. The page's clock is ours. */
async function openWithActiveSession(email: string): Promise<Page> {
  const { page } = await openPage(browser);
  const accountId = await service.admit(email);
  await page.clock.install();
  await signInAs(page, { service, email });
  const session = await reserve(page);
  await activate(service, { sessionId: session.id, accountId });
  await page.reload();
  await page.getByText('A session is active').waitFor();
  return page;
}

test('a dead server is named, its figures are dated and greyed, and no session is called active', async () => {
  const page = await openWithActiveSession('dead@example.com');
  let server: 'away' | 'silent' | 'back' = 'away';
  const held: Route[] = [];
  await page.route('**/console-api/**', async (route) => {
    if (server === 'away') await route.abort();
    else if (server === 'back') await route.continue();
    else held.push(route);
  });
  await page.clock.runFor(3_000);
  await page.getByText(/Server unreachable\. Figures from \d\d:\d\d\./).waitFor();
  expect(await page.getByText('A session is active').count()).toBe(0);
  await page.getByText('A session was active when the server last answered').waitFor();
  expect(await page.locator('main.stale').count()).toBe(1);
  await seen(page, 'overview-stale');

  // No answer before the click: the page also asks by itself, and then the button is gone.
  server = 'silent';
  await page.getByRole('button', { name: 'Retry' }).click();
  server = 'back';
  await Promise.all(held.map((route) => route.continue()));
  await page.getByText('A session is active').waitFor();
  expect(await page.getByText('Server unreachable').count()).toBe(0);
});

test('the playground says what to do when the server is unreachable', async () => {
  const page = await openConsole('unreached@example.com', '/app/playground');
  await page.route('**/console-api/playground/session', (route) => route.abort());
  const seconds = Buffer.alloc(32_000);
  const header = Buffer.from(
    'UklGRiR9AABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQB9AAA=',
    'base64',
  );
  await page.locator('input[type=file]').setInputFiles({
    name: 'second.wav',
    mimeType: 'audio/wav',
    buffer: Buffer.concat([header, seconds]),
  });
  await page.getByText('The server could not be reached. Check your connection').waitFor();
  expect(await page.getByText('Failed to fetch').count()).toBe(0);
});

test('a resent code is confirmed, and a limit says how long to wait', async () => {
  const email = 'patient@example.com';
  const { page } = await openPage(browser);
  await service.admit(email);
  await page.goto(`${service.url}/app`);
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Email me a code' }).click();
  await page.getByRole('button', { name: 'Send a new code' }).click();
  await page.getByText(/A new code was sent at \d\d:\d\d/).waitFor();
  const limited = page.getByText(/^Too many requests\. Try again in \d+ (min|h)/);
  await expect
    .poll(
      async () => {
        await page.getByRole('button', { name: 'Send a new code' }).click();
        return limited.count();
      },
      { interval: 200 },
    )
    .toBe(1);
  await seen(page, 'sign-in-limited');
});

test('a live session is announced once, however often its page is refreshed', async () => {
  const page = await openWithActiveSession('listener@example.com');
  await page.evaluate(`
    announced = 0;
    for (const region of document.querySelectorAll('[aria-live], [role=status], [role=alert]')) {
      new MutationObserver((changes) => { announced += changes.length; })
        .observe(region, { childList: true, characterData: true, subtree: true });
    }
  `);
  for (let poll = 0; poll < 3; poll += 1) {
    const polled = page.waitForResponse((answer) => answer.url().endsWith('/overview/live'));
    await page.clock.runFor(2_000);
    await polled;
  }
  expect(await page.evaluate('announced')).toBe(0);
});
