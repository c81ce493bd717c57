import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { setOperator } from '../../src/accounts/people/operators.ts';
import {
  openPage,
  plugInDevice,
  signInAs,
  startConsoleInChromium,
} from '../support/console/console-chromium.ts';
import { enrolmentCode } from '../support/console/console-operator.ts';
import { seen } from '../support/console/console-seen.ts';

/** Passkeys in Chromium, with its own prompts and virtual device. */

const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);

async function signOut(page: Page): Promise<void> {
  await page.locator('summary').filter({ hasText: '@example.com' }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

test('a passkey added in the settings signs in until it is removed', async () => {
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

  // The device first confirms with the passkey it has.
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('First confirm with a passkey you have').waitFor();
  await page.getByLabel('Name').fill('the same phone');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('This device already has a passkey').waitFor();
  await page.keyboard.press('Escape');

  await signOut(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByText(/ · last used /).waitFor();
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
});

test('a device without user verification adds no passkey, and email codes still work', async () => {
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
});

test('an operator adds the first passkey with a code from svc-admin, and later ones by confirming', async () => {
  const email = 'operator@example.com';
  const { page, complaints } = await openPage(browser);
  await plugInDevice(page, true);
  await service.admit(email);
  await setOperator(service.database.pool, { email, isOperator: true });
  await signInAs(page, { service, email });
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByLabel('Name').fill('security key');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Enter the enrolment code').waitFor();
  await seen(page, 'operator-enrol');
  await page.getByLabel('Enrolment code').fill('0000-0000-0000-0000');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Incorrect or expired enrolment code').waitFor();
  await seen(page, 'operator-enrol-wrong');
  await page.getByLabel('Enrolment code').fill(await enrolmentCode(service, email));
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('not used yet').waitFor();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('Only if you lost your passkey').waitFor();
  await seen(page, 'operator-add-second');
  await page.keyboard.press('Escape');

  // A session that was opened with a code removes a passkey only after using one.
  await page.getByRole('button', { name: 'Remove security key' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('You have no passkey yet').waitFor();
  const { rows } = await service.database.pool.query(
    `select s.verified_by from console_sessions s join console_users u on u.id = s.user_id
      where u.email = $1`,
    [email],
  );
  expect(rows).toEqual([{ verified_by: 'passkey' }]);
  expect(complaints).toEqual([]);
});
