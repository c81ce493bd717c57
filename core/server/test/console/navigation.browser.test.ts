import { afterAll, expect, test } from 'vitest';
import { addMember } from '../../src/accounts/people/members.ts';
import { setOperator } from '../../src/accounts/people/operators.ts';
import { joinWaitlist } from '../../src/accounts/waitlist.ts';
import {
  addSession,
  openPage,
  signInAs,
  startConsoleInChromium,
} from '../support/console/console-chromium.ts';

/** The navigation, finding pages with the keyboard, and the list of browsers in the settings. */

const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);

const FOCUSED = 'document.activeElement.getAttribute("aria-keyshortcuts")';

test('Ctrl K finds pages, docs and a session by its id, with the keyboard alone', async () => {
  const { page, context, complaints } = await openPage(browser);
  await service.admit('finder@example.com');
  await signInAs(page, { service, email: 'finder@example.com' });
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').waitFor();
  await page.keyboard.type('log');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Log', exact: true }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/app/log');

  const id = '0b9bd0f5-8a3c-4a52-9a0e-4c9c4f3f1f11';
  await page.keyboard.press('Meta+k');
  await page.getByRole('dialog').getByRole('combobox').waitFor();
  await page.keyboard.type(id);
  const chosen = page.getByRole('dialog').getByRole('option', { selected: true });
  expect(await chosen.innerText()).toContain('in Sessions');
  await page.keyboard.press('ArrowDown');
  expect(await chosen.innerText()).toContain('in Log');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${service.url}/app/sessions?id=${id}`);

  await page.getByRole('button', { name: 'Go to' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('combobox').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.evaluate<string>(FOCUSED)).toContain('Control+K');

  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').waitFor();
  await page.keyboard.type('errors');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${service.url}/docs/errors`);
  expect(complaints).toEqual([]);
  await context.close();
});

test('lists only pages that the person may open', async () => {
  const accountId = await service.admit('leader@example.com');
  const member = {
    accountId,
    email: 'reader@example.com',
    role: 'member',
    language: 'en',
  } as const;
  await addMember(service.database.pool, member);
  const { page, context } = await openPage(browser);
  await signInAs(page, { service, email: 'reader@example.com' });
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: 'Overview' }).waitFor();
  const pages = await page.getByRole('option').allInnerTexts();
  expect(pages).not.toContain('Activity');
  expect(pages.filter((name) => name.startsWith('Operator'))).toEqual([]);
  expect(pages).toContain('Credit');
  await context.close();
});

test('operators find their pages too', async () => {
  const { page, context } = await openPage(browser);
  await service.admit('finder-operator@example.com');
  await setOperator(service.database.pool, {
    email: 'finder-operator@example.com',
    isOperator: true,
  });
  await signInAs(page, { service, email: 'finder-operator@example.com' });
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').waitFor();
  await page.keyboard.type('operator nodes');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${service.url}/app/operator/nodes`);
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Nodes');
  await context.close();
});

test('everything that people who pay look for has a place, and old addresses lead there', async () => {
  const { page, context } = await openPage(browser);
  await service.admit('payer@example.com');
  await signInAs(page, { service, email: 'payer@example.com' });
  const navigation = page.getByRole('navigation', { name: 'Main' });
  expect(await navigation.getByRole('link').allInnerTexts()).toEqual([
    'Overview',
    'Sessions',
    'Log',
    'Usage',
    'Playground',
    'API keys',
    'Credit',
    'Team',
    'Settings',
  ]);
  for (const place of ['Usage', 'Log', 'Credit', 'Team']) {
    await navigation.getByRole('link', { name: place }).click();
    await page.getByRole('heading', { level: 1, name: place }).waitFor();
    expect(await navigation.locator('[aria-current]').allInnerTexts()).toEqual([place]);
  }
  await page.goto(`${service.url}/app/sessions/usage?from=2026-01-01&to=2026-01-31`);
  await page.waitForURL(`${service.url}/app/usage?from=2026-01-01&to=2026-01-31`);
  // Phones have five tabs, and the other places in the menu.
  await page.setViewportSize({ width: 390, height: 800 });
  const tabs = navigation.getByRole('link').filter({ visible: true });
  await expect.poll(() => tabs.count()).toBe(5);
  await page.locator('summary').filter({ hasText: 'payer@' }).click();
  await page.getByRole('link', { name: 'Team' }).filter({ visible: true }).click();
  await page.waitForURL(`${service.url}/app/team`);
  await context.close();
});

test('an operator sees how much waits', async () => {
  const { page, context } = await openPage(browser);
  const email = 'monday-operator@example.com';
  await service.admit(email);
  await setOperator(service.database.pool, { email, isOperator: true });
  for (const who of ['one@example.com', 'two@example.com']) {
    await joinWaitlist(service.database.pool, { email: who, name: '', purpose: '' });
  }
  await addSession(page, { service, email, verifiedBy: 'passkey' });
  await page.goto(`${service.url}/app`);
  const navigation = page.getByRole('navigation', { name: 'Main' });
  await navigation.getByRole('link', { name: 'Operator 2 waiting' }).click();
  const tabs = page.getByRole('navigation', { name: 'Operator pages' });
  const waitlist = tabs.getByRole('link', { name: 'Waitlist' });
  await expect.poll(() => waitlist.innerText()).toMatch(/^Waitlist\s+2$/);
  await context.close();
});

test('docs and status are one click away on every page', async () => {
  const { page, context } = await openPage(browser);
  await service.admit('helped@example.com');
  await signInAs(page, { service, email: 'helped@example.com' });
  await page.getByRole('link', { name: 'Service status' }).click();
  await page.waitForURL(`${service.url}/status`);
  await page.goBack();
  await page.getByRole('link', { name: 'Docs' }).click();
  await page.waitForURL(`${service.url}/docs`);
  expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
  await context.close();
});

test('names the browsers of a person and signs one of them out', async () => {
  const first = await openPage(browser);
  await service.admit('devices@example.com');
  await signInAs(first.page, { service, email: 'devices@example.com' });
  const second = await openPage(browser, {
    userAgent: 'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36',
  });
  await signInAs(second.page, { service, email: 'devices@example.com' });
  await first.page.goto(`${service.url}/app/settings`);
  await first.page.getByText('This browser').waitFor();
  await first.page.getByRole('button', { name: 'Sign out Chrome 141 on Android' }).click();
  await first.page.getByText('Chrome 141 on Android is signed out.').waitFor();
  await second.page.goto(`${service.url}/app/settings`);
  await second.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await first.page.getByRole('button', { name: /^Sign out / }).count()).toBe(0);
  await first.context.close();
  await second.context.close();
});
