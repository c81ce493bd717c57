import type { NewKey } from '@svc-asr/protocol/console/console.ts';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { violations } from '../support/console/console-axe.ts';
import { openPage, signInAs, startConsoleInChromium } from '../support/console/console-chromium.ts';
import { takePicturesOfEveryLook } from '../support/console/console-pictures.ts';

const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);

async function callApi<T>(page: Page, path: string, body: unknown): Promise<T> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const request = JSON.stringify({ ...init, body: JSON.stringify(body) });
  return page.evaluate(`fetch('/console-api${path}', ${request}).then((answer) => answer.json())`);
}

test('the keys of a rotation are told apart, and a key in use is revoked only by its last characters', async () => {
  const { page, complaints } = await openPage(browser);
  await service.admit('rotator@example.com');
  await signInAs(page, { service, email: 'rotator@example.com' });
  const rules = { name: 'server', models: ['svc-asr-kikuyu-v1'], expires_in_days: null };
  const old = await callApi<NewKey>(page, '/keys', rules);
  const fresh = await callApi<NewKey>(page, `/keys/${old.key.id}/rotate`, {});
  const used = `update api_keys set last_used_at = clock_timestamp() - interval '2 minutes' where id = $1`;
  await service.database.pool.query(used, [old.key.id]);
  await page.goto(`${service.url}/app/keys`);
  const row = (key: NewKey) => page.getByRole('listitem').filter({ hasText: key.key.hint });
  await row(fresh).getByText('New', { exact: true }).waitFor();
  await row(old).getByText('Replaced, last used 2 min ago').waitFor();
  expect(
    await row(old)
      .getByText(/Created .*\d:\d\d/)
      .count(),
  ).toBe(1);
  expect(await violations(page)).toEqual([]);
  await takePicturesOfEveryLook(page, 'keys-rotated');

  await row(old).getByRole('button', { name: 'Revoke' }).click();
  const dialog = page.getByRole('dialog', { name: 'Revoke "server"?' });
  await dialog.getByText(old.key.hint).waitFor();
  const revoke = dialog.getByRole('button', { name: 'Revoke the key' });
  expect(await revoke.isDisabled()).toBe(true);
  await dialog.getByLabel('Type the last four characters').fill(fresh.key.hint.slice(-4));
  expect(await revoke.isDisabled()).toBe(true);
  await dialog.getByLabel('Type the last four characters').fill(old.key.hint.slice(-4));
  expect(await violations(page)).toEqual([]);
  await takePicturesOfEveryLook(page, 'keys-revoke-used');
  await revoke.click();
  await page.getByText('"server" is revoked.').waitFor();

  await row(fresh).getByRole('button', { name: 'Rename' }).click();
  await page.getByLabel('Name', { exact: true }).fill('server 2027');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'server 2027' }).waitFor();

  // A key that was made on the command line without a name is named by its prefix.
  await service.database.pool.query(`update api_keys set name = '' where id = $1`, [fresh.key.id]);
  await page.reload();
  await row(fresh).getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog', { name: `Revoke "${fresh.key.hint}…"?` }).waitFor();
  expect(complaints).toEqual([]);
});

test('two names never block a rotation: each key has its own successor', async () => {
  const { page, complaints } = await openPage(browser);
  await service.admit('two-names@example.com');
  await signInAs(page, { service, email: 'two-names@example.com' });
  const rules = { models: ['svc-asr-kikuyu-v1'], expires_in_days: null };
  const phone = await callApi<NewKey>(page, '/keys', { ...rules, name: 'phone' });
  await callApi<NewKey>(page, '/keys', { ...rules, name: 'radio' });
  await page.goto(`${service.url}/app/keys`);
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });
  for (const name of ['phone', 'radio']) {
    await row(name).getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('button', { name: 'Create the new key' }).click();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await row(name).getByText('Replaced, never used').waitFor();
  }
  for (const button of await page.getByRole('button', { name: 'Rotate' }).all()) {
    expect(await button.isDisabled()).toBe(true);
  }
  expect(await page.getByRole('button', { name: 'Create a key' }).isEnabled()).toBe(true);
  await takePicturesOfEveryLook(page, 'keys-two-rotations');
  await row(phone.key.hint).getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke the key' }).click();
  await page.getByText('"phone" is revoked.').waitFor();
  const fresh = row('phone').filter({ hasText: 'Active' });
  await expect.poll(() => fresh.getByRole('button', { name: 'Rotate' }).isEnabled()).toBe(true);
  expect(complaints).toEqual([]);
});
