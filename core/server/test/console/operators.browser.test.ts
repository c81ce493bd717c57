import type { Activity } from '@svc-asr/protocol/console/console.ts';
import { afterAll, expect, test } from 'vitest';
import { withAuditContext } from '../../src/accounts/logs/audit-log.ts';
import { inviteMember } from '../../src/accounts/people/invitations.ts';
import { findPersonByEmail } from '../../src/accounts/people/members.ts';
import { setOperator } from '../../src/accounts/people/operators.ts';
import { joinWaitlist } from '../../src/accounts/waitlist.ts';
import { addIncident } from '../../src/nodes/status/incidents.ts';
import { violations } from '../support/console/console-axe.ts';
import {
  openPage,
  pressAt,
  signInAs,
  signInWithNewPasskey,
  startConsoleInChromium,
} from '../support/console/console-chromium.ts';
import { takePicturesOfEveryLook } from '../support/console/console-pictures.ts';
import { seen } from '../support/console/console-seen.ts';

/** The desk of an operator, and what customers see of it. */

const OPERATOR = 'desk-operator@example.com';
const { service, browser, stop } = await startConsoleInChromium({ operator: OPERATOR });
afterAll(stop);

async function statusOf(email: string): Promise<string | undefined> {
  const { rows } = await service.database.pool.query<{ status: string }>(
    'select status from waitlist where email = $1',
    [email],
  );
  return rows[0]?.status;
}

test('a decline can be undone and moves no other row, and several people are approved at once', async () => {
  const { page, complaints } = await openPage(browser);
  for (const name of ['first', 'second', 'third', 'fourth']) {
    const email = `${name}@example.com`;
    await joinWaitlist(service.database.pool, { email, name: '', purpose: name });
  }
  await page.clock.install();
  await signInWithNewPasskey(page, { service, email: OPERATOR });
  await page.getByRole('link', { name: 'Operator' }).click();
  await page.getByRole('link', { name: '4 people wait for access' }).click();
  const row = (name: string) => page.getByRole('row').filter({ hasText: `${name}@` });
  const place = async () => (await row('second').boundingBox())?.y;
  await row('second').waitFor();
  await seen(page, 'operator-waitlist');
  const before = await place();
  // Time stands still, however slow this machine is.
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.getByLabel('Reason (optional)').fill('a robot');
  await row('first').getByRole('button', { name: 'Decline' }).click();
  await row('first').getByText('Declined').waitFor();
  expect(await page.evaluate('document.activeElement.textContent')).toContain('Declined');
  expect(await place()).toBe(before);
  await row('first').getByRole('button', { name: 'Undo' }).click();
  await page.clock.runFor(11_000);
  expect(await statusOf('first@example.com')).toBe('waiting');
  const canUndo = page.getByText('You can undo it for 10 seconds');
  await row('first').getByRole('button', { name: 'Decline' }).click();
  expect(await canUndo.count()).toBe(1);
  await page.clock.runFor(11_000);
  await canUndo.waitFor({ state: 'detached' });
  await expect.poll(() => statusOf('first@example.com')).toBe('declined');
  expect(await statusOf('second@example.com')).toBe('waiting');
  await page.clock.resume();

  await page.getByLabel('Reason (optional)').fill('pilot');
  await page.getByLabel('Credit (minutes)').fill('45');
  await row('second').getByRole('checkbox').check();
  await row('third').getByRole('checkbox').check();
  await seen(page, 'operator-waitlist-selected');
  await page.getByRole('button', { name: 'Approve 2 selected' }).click();
  await page.getByText('2 requests are approved').waitFor();
  expect(await page.evaluate('document.activeElement.textContent')).toContain('approved');
  await seen(page, 'operator-waitlist-decided');

  // Leaving the page sends a decline at once.
  await row('fourth').getByRole('button', { name: 'Decline' }).click();
  await page.getByRole('link', { name: 'Accounts' }).click();
  await page.getByRole('link', { name: 'third@example.com' }).waitFor();
  await expect.poll(() => statusOf('fourth@example.com')).toBe('declined');
  await seen(page, 'operator-accounts');

  await page.getByRole('link', { name: 'Waitlist' }).click();
  await page.getByText('Nobody is waiting').waitFor();
  await page.getByLabel('Show').selectOption('Approved');
  await row('third').getByText('pilot').waitFor();
  await row('third').getByText('45 min').waitFor();
  await seen(page, 'operator-approved');
  expect(complaints).toEqual([]);
});

test('several people are approved with the keyboard alone', async () => {
  const { page, complaints } = await openPage(browser);
  for (const name of ['fifth', 'sixth', 'seventh']) {
    const entry = { email: `${name}@example.com`, name: '', purpose: '' };
    await joinWaitlist(service.database.pool, entry);
  }
  const email = 'keyboard-operator@example.com';
  await service.admit(email);
  await setOperator(service.database.pool, { email, isOperator: true });
  await signInWithNewPasskey(page, { service, email });
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await pressAt(page, 'Operator', 'Enter');
  await pressAt(page, '3 people wait for access', 'Enter');
  await page.getByRole('checkbox', { name: 'fifth@example.com' }).waitFor();
  await pressAt(page, 'Credit (minutes)', 'ControlOrMeta+a');
  await page.keyboard.type('30');
  await pressAt(page, 'Reason (optional)', 'End');
  await page.keyboard.type('radio pilot');
  await pressAt(page, 'fifth@example.com', 'Space');
  await pressAt(page, 'seventh@example.com', 'Space');
  await pressAt(page, 'Approve 2 selected', 'Enter');
  await page.getByText('2 requests are approved').waitFor();
  // The badges count again at once.
  await page.getByRole('link', { name: 'Operator 1 waiting' }).waitFor();
  expect(await statusOf('fifth@example.com')).toBe('approved');
  expect(await statusOf('sixth@example.com')).toBe('waiting');
  expect(await statusOf('seventh@example.com')).toBe('approved');
  expect(complaints).toEqual([]);
});

test('without a passkey an operator gets one sentence and a link', async () => {
  const { page } = await openPage(browser);
  await signInAs(page, { service, email: OPERATOR });
  await page.goto(`${service.url}/app/operator`);
  await page.getByText('after they have signed in with a passkey').waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  await seen(page, 'operator-no-passkey');
  await page.getByRole('link', { name: 'Add a passkey in the settings' }).click();
  await page.getByRole('heading', { name: 'Passkeys' }).waitFor();
});

test('activity is in sentences with names, and operators are not named to customers', async () => {
  const { page, complaints } = await openPage(browser);
  const accountId = await service.admit('customer@example.com');
  await signInAs(page, { service, email: 'customer@example.com' });
  const operator = await findPersonByEmail(service.database.pool, OPERATOR);
  const context = { actorId: operator?.id ?? '', requestId: 'req_test', source: '192.0.2.7' };
  await withAuditContext(service.database.pool, context, async (db) => {
    await db.query(`select set_config('svc.reason', 'invoice 2027-014 overdue', true)`);
    await db.query(`update accounts set status = 'suspended' where id = $1`, [accountId]);
  });
  await page.goto(`${service.url}/app/activity`);
  await page.getByText('The operator suspended this account.').waitFor();
  await page.getByText('Reason: invoice 2027-014 overdue').waitFor();
  await page.getByText('customer@example.com signed in with an email code.').waitFor();
  await page.getByText('The operator granted 1 h of audio credit.').waitFor();
  const text = await page.locator('main').innerText();
  expect(text).not.toMatch(/[{}]|[0-9a-f]{8}-[0-9a-f]{4}/);
  await seen(page, 'activity-sentences');
  const body: Activity = await page.evaluate(
    `fetch('/console-api/activity').then((answer) => answer.json())`,
  );
  expect(JSON.stringify(body)).not.toContain(OPERATOR);
  expect(JSON.stringify(body)).not.toContain('192.0.2.7');
  expect(complaints).toEqual([]);
});

test('an accepted invitation is confirmed and offers the account, and a promotion asks first', async () => {
  const { page, complaints } = await openPage(browser);
  const accountId = await service.admit('host@example.com');
  await service.admit('guest@example.com');
  const host = await findPersonByEmail(service.database.pool, 'host@example.com');
  await inviteMember(service.database.pool, {
    accountId,
    invitedBy: host?.id ?? '',
    email: 'guest@example.com',
    role: 'member',
    language: 'en',
  });
  await signInAs(page, { service, email: 'guest@example.com' });
  await page.getByRole('link', { name: 'You are invited' }).click();
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByText('You joined host').waitFor();
  await seen(page, 'invitation-accepted');
  await page.getByRole('button', { name: 'Switch to host' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await expect.poll(() => page.locator('header summary').innerText()).toContain('host');

  const owner = await openPage(browser);
  await signInAs(owner.page, { service, email: 'host@example.com' });
  await owner.page.goto(`${service.url}/app/team`);
  await owner.page.getByLabel('Role of guest@example.com').selectOption('owner');
  const dialog = owner.page.getByRole('dialog', { name: 'Make guest@example.com an owner?' });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(await owner.page.getByLabel('Role of guest@example.com').inputValue()).toBe('member');
  await owner.page.getByLabel('Role of guest@example.com').selectOption('owner');
  await dialog.getByRole('button', { name: 'Make an owner' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await owner.page.getByLabel('Role of guest@example.com').inputValue()).toBe('owner');
  expect([...complaints, ...owner.complaints]).toEqual([]);
});

test('an operator begins with what waits and what is broken, and finds who did what', async () => {
  const { page, complaints } = await openPage(browser);
  const db = service.database.pool;
  const email = 'monday-desk@example.com';
  await service.admit(email);
  await setOperator(db, { email, isOperator: true });
  await joinWaitlist(db, { email: 'weekend@example.com', name: '', purpose: '' });
  await addIncident(db, { text: 'Calls were cut off', start: new Date(), end: null });
  await signInWithNewPasskey(page, { service, email });
  await page.getByRole('link', { name: 'Operator' }).click();
  const toDo = page.getByRole('region', { name: 'To do' });
  await toDo
    .getByRole('link', { name: 'Incident on the status page: Calls were cut off' })
    .waitFor();
  await toDo.getByRole('link', { name: 'The ledger was not audited within 36 hours' }).waitFor();
  const runbook = toDo.getByRole('link', { name: 'Follow the runbook SvcLedgerAuditMissing.' });
  const address = new URL((await runbook.getAttribute('href')) ?? '', service.url);
  expect(await (await page.request.get(address.href)).text()).toContain(
    `id="${address.hash.slice(1)}"`,
  );
  const figures = page.getByRole('region', { name: 'The last 24 hours' });
  expect(await figures.locator('dt').allInnerTexts()).toEqual([
    'Streams',
    'Accounts',
    'Audio charged',
    'Failed',
  ]);
  expect(await violations(page)).toEqual([]);
  await takePicturesOfEveryLook(page, 'operator-start');
  // Nothing on the page changes anything.
  const buttons = page.locator('main').getByRole('button');
  expect(await buttons.allInnerTexts()).toEqual(['Refresh']);
  await toDo.getByRole('link', { name: /waits? for access/ }).click();
  await page.getByRole('row').filter({ hasText: 'weekend@' }).waitFor();

  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByText(`made ${email} an operator.`).waitFor();
  await page.getByText('published an incident: "Calls were cut off"').waitFor();
  await page.getByText(`${email} signed in with a passkey.`).first().waitFor();
  expect(await page.locator('main').innerText()).not.toMatch(/[{}]|operator\.changed/);
  expect(await violations(page)).toEqual([]);
  await takePicturesOfEveryLook(page, 'operator-audit-sentences');
  await page.getByLabel('What').selectOption('Credit');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.waitForURL(/kind=credit/);
  await page.getByText('made').first().waitFor({ state: 'detached' });
  await page.getByText('granted 1 h of audio credit.').first().waitFor();
  await page.getByLabel('Who did it').fill('nobody');
  await page.keyboard.press('Enter');
  await page.getByText('No entries.').waitFor();
  expect(complaints).toEqual([]);
});
