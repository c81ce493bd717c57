import { afterAll, expect, test } from 'vitest';
import { addMember } from '../../src/accounts/people/members.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import {
  openPage,
  pressAt,
  signInAs,
  signInWithNewPasskey,
  startConsoleInChromium,
} from '../support/console/console-chromium.ts';
import { seen } from '../support/console/console-seen.ts';

/** Credit from the customer's request to the operator's decision, in two browsers. */

const OPERATOR = 'credit-operator@example.com';
const { service, browser, stop } = await startConsoleInChromium({ operator: OPERATOR });
afterAll(stop);

test('a customer requests credit by keyboard, the operator grants a part of it, and the customer sees the answer', async () => {
  await service.admit('radio@example.com');
  const desk = await openPage(browser);
  await signInWithNewPasskey(desk.page, { service, email: OPERATOR });
  const customer = await openPage(browser);
  await signInAs(customer.page, { service, email: 'radio@example.com' });
  await customer.page.getByRole('heading', { name: 'Audio credit' }).waitFor();
  // The limit that answers 429 is in sight before a program meets it.
  await customer.page.getByText('Limit: 1 session at once; another gets 429').waitFor();
  await pressAt(customer.page, 'Request credit', 'Enter');
  await customer.page.getByRole('heading', { name: 'Credit', exact: true }).waitFor();
  await customer.page.getByText('1 h available.').waitFor();
  await pressAt(customer.page, 'Audio (minutes)', 'ControlOrMeta+a');
  await customer.page.keyboard.type('120');
  await pressAt(customer.page, 'What is it for?', 'End');
  await customer.page.keyboard.type('Radio pilot in Kisumu');
  await seen(customer.page, 'credit-form');
  await pressAt(customer.page, 'Send the request', 'Enter');
  await customer.page.getByText('Your request was sent').waitFor();
  await seen(customer.page, 'credit-sent');

  // Passkeys work only in the page that has the focus.
  await desk.page.bringToFront();
  await desk.page.goto(`${service.url}/app/operator/requests`);
  await desk.page.getByText('Radio pilot in Kisumu').waitFor();
  // The address is the name of the account, so it is not said again.
  const lines = await desk.page.locator('li p').allInnerTexts();
  expect(lines.filter((line) => line.includes('radio@example.com'))).toEqual([]);
  await desk.page.getByRole('button', { name: 'Grant radio@example.com' }).click();
  const dialog = desk.page.getByRole('dialog', { name: 'Grant credit to radio@example.com' });
  expect(await dialog.getByLabel('Credit (minutes)').inputValue()).toBe('120');
  const grant = dialog.getByRole('button', { name: 'Grant' });
  await dialog.getByLabel('Credit (minutes)').fill('601');
  await dialog.getByLabel('Reason').fill('An hour to begin with.');
  expect(await grant.isDisabled()).toBe(true);
  await dialog.getByLabel('Credit (minutes)').fill('60');
  // An old sign-in must be confirmed again: the device answers the prompt.
  await service.database.pool.query(
    `update console_sessions set confirmed_at = confirmed_at - interval '1 hour'`,
  );
  await grant.click();
  await desk.page.getByText('1 h granted.').waitFor();
  await seen(desk.page, 'operator-request-granted');

  await customer.page.reload();
  await customer.page.getByText('Granted 1 h').waitFor();
  await customer.page.getByText('Operator: An hour to begin with.').waitFor();
  await customer.page.getByText('2 h available.').waitFor();
  await seen(customer.page, 'credit-granted');
  expect([...customer.complaints, ...desk.complaints]).toEqual([]);
});

test('an operator grants credit and changes the limit of an account, with reasons in the audit log', async () => {
  const accountId = await service.admit('clinic@example.com');
  const { page, complaints } = await openPage(browser);
  await signInWithNewPasskey(page, { service, email: OPERATOR });
  await page.goto(`${service.url}/app/operator/accounts/${accountId}`);
  await page.getByRole('button', { name: 'Grant credit' }).click();
  await page.getByLabel('Credit (minutes)').fill('30');
  await page.getByLabel('Reason').fill('invoice 2027-014');
  await page.getByRole('dialog').getByRole('button', { name: 'Grant credit' }).click();
  await page.getByText('30 min of credit was granted.').waitFor();
  await page.getByText('1 h 30 min').first().waitFor();
  await page.getByRole('button', { name: 'Change the limit' }).click();
  await page.getByRole('spinbutton', { name: 'Sessions at once' }).fill('4');
  await page.getByLabel('Reason').fill('two call centres');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The limit is now 4.').waitFor();
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByText('Only one account.').waitFor();
  const limit = page.getByRole('row').filter({ hasText: 'set the limit to 4 sessions at a time.' });
  await limit.getByText('Details').click();
  await limit.getByText('concurrency_limit: 1 → 4').waitFor();
  await page.getByText('Reason: two call centres').waitFor();
  await page.getByText('Reason: invoice 2027-014').waitFor();
  await seen(page, 'operator-audit-account');
  expect(complaints).toEqual([]);
});

test('a member sees that owners request credit', async () => {
  const { page } = await openPage(browser);
  const email = 'member-of-radio@example.com';
  const accountId = await service.admit('radio-owner@example.com');
  await addMember(service.database.pool, { accountId, email, role: 'member', language: 'en' });
  await signInAs(page, { service, email });
  await page.goto(`${service.url}/app/credit`);
  await page.getByText('Only owners of this account can request credit.').waitFor();
  expect(await page.getByRole('button', { name: 'Send the request' }).count()).toBe(0);
  await seen(page, 'credit-member');
});

test('an account without credit says so on every page, and the playground offers nothing to start or play', async () => {
  const { page, complaints } = await openPage(browser);
  const accountId = await service.admit('broke@example.com');
  await Promise.all([
    page.waitForResponse('**/playground/credit'),
    signInAs(page, { service, email: 'broke@example.com', path: '/app/playground' }),
  ]);
  // The last credit is spent while the page is open, so that its next run is refused.
  const spent = { ms: -3_600_000, reason: 'test', actor: 'test', id: crypto.randomUUID() };
  await page.getByRole('button', { name: 'Kikuyu 1' }).waitFor();
  await createLedger(service.database.pool).adjust({ accountId, ...spent });
  await page.getByRole('button', { name: 'Kikuyu 1' }).click();
  await page.getByText('insufficient_credits').waitFor();
  expect(await page.getByRole('button', { name: 'Play the recording' }).count()).toBe(0);

  for (const path of ['', '/sessions', '/log', '/usage', '/playground', '/keys', '/settings']) {
    await page.goto(`${service.url}/app${path}`);
    const banner = page.getByRole('alert').filter({ hasText: 'Your credit is used up' });
    await banner.getByRole('link', { name: 'Request credit' }).waitFor();
  }
  const badge = page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link', { name: 'Credit' });
  expect(await badge.innerText()).toContain('0 s');
  await page.goto(`${service.url}/app/playground`);
  await page.locator('button:disabled', { hasText: 'Start speaking' }).waitFor();
  await seen(page, 'playground-broke');
  await page.getByRole('link', { name: 'Request credit' }).click();
  await page.waitForURL(`${service.url}/app/credit`);
  expect(complaints).toEqual([]);
});
