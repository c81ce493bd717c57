import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from './console-axe.ts';
import { launchChromium, openPage, signInAs, startConsoleSite } from './console-chromium.ts';
import { takePicturesOfEveryLook } from './console-pictures.ts';
import type { ConsoleService } from './console-service.ts';

/** Passkeys as people meet them: Chromium's own prompts, answered by its own virtual device. */

let service: ConsoleService;
let browser: Browser;
beforeAll(async () => {
  [service, browser] = await Promise.all([startConsoleSite(), launchChromium()]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

async function plugInDevice(page: Page, isUserVerified: boolean): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  });
}

async function seen(page: Page, name: string): Promise<void> {
  expect(await violations(page)).toEqual([]);
  await takePicturesOfEveryLook(page, name);
}

async function signOut(page: Page): Promise<void> {
  await page.locator('summary').filter({ hasText: '@example.com' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

test('a passkey is added in the settings, signs in after a sign-out, and once removed opens nothing', async () => {
  const { page, complaints } = await openPage(browser);
  await plugInDevice(page, true);
  await service.admit('amina@example.com');
  await signInAs(page, { service, email: 'amina@example.com' });

  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByText('You have no passkey yet').waitFor();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Give the passkey a name').waitFor();
  await seen(page, 'passkey-add');
  await page.getByLabel('Name').fill('my phone');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('not used yet').waitFor();

  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByLabel('Name').fill('the same phone');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('This device already has a passkey').waitFor();
  await page.keyboard.press('Escape');

  await signOut(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByText('last used').waitFor();
  await seen(page, 'settings-passkey');

  await page.getByRole('button', { name: 'Remove my phone' }).click();
  await seen(page, 'passkey-remove');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('You have no passkey yet').waitFor();
  await signOut(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('This passkey was not accepted').waitFor();
  await seen(page, 'sign-in-passkey-refused');
  expect(complaints).toEqual([]);
}, 120_000);

test('a device that does not verify its owner adds no passkey, and the code is still there', async () => {
  const { page, complaints } = await openPage(browser);
  await plugInDevice(page, false);
  await service.admit('otieno@example.com');
  await signInAs(page, { service, email: 'otieno@example.com' });
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByLabel('Name').fill('borrowed');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('No passkey was used').waitFor();
  await page.keyboard.press('Escape');
  await signOut(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('No passkey was used').waitFor();
  await signInAs(page, { service, email: 'otieno@example.com' });
  expect(complaints).toEqual([]);
}, 120_000);
