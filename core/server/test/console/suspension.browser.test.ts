import { eventually } from '@svc-asr/testing/eventually.ts';
import { afterAll, expect, test } from 'vitest';
import {
  openPage,
  signInWithNewPasskey,
  startConsoleInChromium,
} from '../support/console/console-chromium.ts';
import { takePicturesOfEveryLook } from '../support/console/console-pictures.ts';

const { service, browser, stop } = await startConsoleInChromium({
  operator: 'operator@example.com',
});
afterAll(stop);

test('an operator suspends an account after using the passkey again, and its key stops working', async () => {
  const accountId = await service.admit('farm-line@example.com');
  const { apiKey } = await service.addKey(accountId);
  const { page, complaints } = await openPage(browser);
  const usage = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${apiKey}` };
    return (await page.request.get(`${service.url}/v1/usage`, { headers })).status();
  };
  expect(await usage()).toBe(200);

  await signInWithNewPasskey(page, { service, email: 'operator@example.com' });
  await page.getByRole('link', { name: 'Operator' }).click();
  await page.getByRole('link', { name: 'Accounts' }).click();
  await page.getByLabel('Name, email address or account id').fill('farm-line');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'farm-line@example.com' }).click();
  // An old sign-in must be confirmed again: the device answers the prompt.
  await service.database.pool.query(
    `update console_sessions set confirmed_at = confirmed_at - interval '1 hour'`,
  );
  await page.getByRole('button', { name: 'Suspend' }).click();
  const dialog = page.getByRole('dialog', { name: 'Suspend farm-line@example.com?' });
  const suspend = dialog.getByRole('button', { name: 'Suspend the account' });
  expect(await suspend.isDisabled()).toBe(true);
  await dialog.getByLabel('Reason').fill('invoice 2027-014 overdue');
  await takePicturesOfEveryLook(page, 'suspend-asked');
  await suspend.click();
  await page.getByText('farm-line@example.com is suspended.').waitFor();
  await page.getByText('Suspended', { exact: true }).waitFor();
  await takePicturesOfEveryLook(page, 'suspended');
  await eventually(async () => (await usage()) === 403);

  const { rows } = await service.database.pool.query(
    `select confirmed_at > clock_timestamp() - interval '1 minute' as confirmed
      from console_sessions where verified_by = 'passkey'`,
  );
  expect(rows).toEqual([{ confirmed: true }]);

  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByLabel('Reason').fill('paid');
  await page.getByRole('button', { name: 'Resume the account' }).click();
  await page.getByText('farm-line@example.com can use the service again.').waitFor();
  await eventually(async () => (await usage()) === 200);
  expect(complaints).toEqual([]);
});
