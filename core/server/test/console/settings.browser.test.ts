import { afterAll, expect, test } from 'vitest';
import { violations } from '../support/console/console-axe.ts';
import { openPage, signInAs, startConsoleInChromium } from '../support/console/console-chromium.ts';
import { takePicturesOfEveryLook } from '../support/console/console-pictures.ts';

const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);

test('a person signs out a browser that they lost, which then asks for a sign-in', async () => {
  const email = 'traveller@example.com';
  await service.admit(email);
  const lost = await openPage(browser);
  await signInAs(lost.page, { service, email });
  const { page, complaints } = await openPage(browser);
  await signInAs(page, { service, email });
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: /^Sign out.*Chrome/ }).click();
  await page.getByText('is signed out').waitFor();
  expect(await page.getByRole('button', { name: /^Sign out.*Chrome/ }).count()).toBe(0);
  expect(await page.locator(':focus').innerText()).toContain('is signed out');
  expect(await violations(page)).toEqual([]);
  await takePicturesOfEveryLook(page, 'settings-signed-out');
  // Its page asks the server again and again.
  await lost.page.getByRole('button', { name: 'Email me a code' }).waitFor();
  expect(complaints).toEqual([]);
});

test('an account is erased only after its owner has typed their address', async () => {
  const email = 'eraser@example.com';
  await service.admit(email);
  const { page, complaints } = await openPage(browser);
  await signInAs(page, { service, email });
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Erase this account' }).click();
  const dialog = page.getByRole('dialog');
  const erase = dialog.getByRole('button', { name: 'Erase' });
  expect(await erase.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill('someone@example.com');
  expect(await erase.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill(' Eraser@Example.com ');
  expect(await erase.isDisabled()).toBe(false);
  await erase.click();
  await page.getByRole('button', { name: 'Email me a code' }).waitFor();
  expect(complaints).toEqual([]);
});
