import { awayFromMidnight } from '@svc-asr/testing/away-from-midnight.ts';
import type { AsrSession } from '@svc-asr/protocol';
import type { NewKey } from '@svc-asr/protocol/console/console.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { violations } from '../support/console/console-axe.ts';
import { openPage, signInAs, startConsoleInChromium } from '../support/console/console-chromium.ts';
import { fillAccount } from '../support/console/console-history.ts';
import { takePicturesOfEveryLook } from '../support/console/console-pictures.ts';

const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);

async function callApi<T>(page: Page, path: string, body: unknown): Promise<T> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const request = JSON.stringify({ ...init, body: JSON.stringify(body) });
  return page.evaluate(`fetch('/console-api${path}', ${request}).then((answer) => answer.json())`);
}

/** Streams audio that looks wrong, from a browser's origin. */
async function stream(page: Page): Promise<{ id: string; requestId: string }> {
  const model = 'svc-asr-kikuyu-v1';
  const session = await callApi<AsrSession>(page, '/playground/session', { model });
  const client = await StreamClient.ready(session, {
    url: service.streamUrl,
    rejectUnauthorized: false,
    headers: { origin: 'https://app.example.com', 'user-agent': 'my-app/2.1' },
  });
  client.send(Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVEfmt '), speech({ samples: 24_000 })]));
  client.say({ type: 'flush' });
  await client.next('final');
  await client.close();
  const count = `select count(*) as n from session_details where session_id = $1`;
  await eventually(async () => {
    const { rows } = await service.database.pool.query<{ n: number }>(count, [session.id]);
    return rows[0]?.n === 1;
  });
  return { id: session.id, requestId: String(client.requestId) };
}

/** Returns the request id of an API call that is refused. */
async function refusedCall(page: Page): Promise<string> {
  const key = { name: 'my app', models: ['svc-asr-kikuyu-v1'], expires_in_days: null };
  const { secret } = await callApi<NewKey>(page, '/keys', key);
  const headers = { authorization: `Bearer ${secret}` };
  const url = `${service.url}/v1/asr/sessions`;
  const answer = await page.request.post(url, { headers, data: {} });
  return answer.headers()['x-request-id'] ?? '';
}

test('a developer finds a session by its request id and sees how it went, by keyboard', async () => {
  const { page, context, complaints } = await openPage(browser, { reducedMotion: 'reduce' });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await service.admit('finder@example.com');
  await signInAs(page, { service, email: 'finder@example.com' });
  const { id, requestId } = await stream(page);
  await callApi(page, '/playground/session', { model: 'svc-asr-dholuo-v1' });
  await page.getByRole('link', { name: 'Sessions', exact: true }).press('Enter');
  const rows = page.locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(2);
  // What is never stored is said after the list.
  expect(await page.locator('main p').last().innerText()).toContain('never store audio');
  expect(await violations(page)).toEqual([]);
  await takePicturesOfEveryLook(page, 'sessions');
  await page.goto(`${service.url}/app/sessions?before=1`);
  await page.getByRole('link', { name: 'Newest' }).press('Enter');
  await expect.poll(() => rows.count()).toBe(2);

  // A filter is part of the address, and survives a reload.
  await page.getByLabel('Status').selectOption('reserved');
  await page.getByRole('button', { name: 'Search' }).press('Enter');
  await expect.poll(() => new URL(page.url()).search).toBe('?status=reserved');
  await expect.poll(() => rows.count()).toBe(1);
  await page.reload();
  await expect.poll(() => rows.count()).toBe(1);
  expect(await page.getByLabel('Status').inputValue()).toBe('reserved');
  const csv = await page.getByRole('link', { name: 'Download CSV' }).getAttribute('href');
  expect(csv).toBe('/console-api/sessions.csv?status=reserved');
  await page.getByRole('link', { name: 'Clear the filters' }).press('Enter');
  // Else the row of the filter could be taken for the one that the id finds.
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByLabel('Session or request id').fill('nonsense');
  await page.keyboard.press('Enter');
  await page.getByText('Enter a whole id').waitFor();
  await page.getByLabel('Session or request id').fill(requestId);
  await page.keyboard.press('Enter');
  await expect.poll(() => rows.count()).toBe(1);
  await rows.getByRole('link').press('Enter');

  await page.getByRole('heading', { name: 'Kikuyu session' }).waitFor();
  expect(page.url()).toContain(id);
  const steps = ['Reserved', 'Connected', 'Ready', 'Finals', 'Closed', 'Settled'];
  const line = await page.getByRole('listitem').allInnerTexts();
  for (const step of steps) {
    expect(line.filter((text) => text.split('\n').includes(step))).toHaveLength(1);
  }
  for (const said of ['1000 completed', 'my-app 2.1', 'This looks like a WAV file', requestId]) {
    await page.getByText(said).first().waitFor();
  }
  await page.getByText('no text and no audio').waitFor();
  // The server speaks English. The page says the hint in the reader's language.
  await service.database.pool.query(`update console_users set language = 'sw'`);
  await page.reload();
  await page.getByText('Hii inaonekana kuwa faili ya WAV.').waitFor();
  await service.database.pool.query(`update console_users set language = 'en'`);
  await page.reload();
  await page.getByText('Transactions in the ledger').first().press('Enter');
  await page.getByRole('cell', { name: '+2,000' }).waitFor();
  await page.getByRole('button', { name: 'Copy for support' }).press('Enter');
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(JSON.parse(copied)).toMatchObject({ id, request_id: requestId, billable_ms: 2_000 });
  await page.getByRole('button', { name: 'Copy for support' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await takePicturesOfEveryLook(page, 'session');

  await page.goto(`${service.url}/app/sessions`);
  await page.getByRole('link', { name: 'Usage' }).press('Enter');
  await page.getByRole('row', { name: 'Total' }).getByText('2 s').waitFor();
  expect(await violations(page)).toEqual([]);
  await takePicturesOfEveryLook(page, 'usage');
  await page.getByText('Choose other days').press('Enter');
  await page.getByLabel('From').fill('2026-01-01');
  await page.getByLabel('To', { exact: false }).last().fill('2026-01-31');
  await page.getByRole('button', { name: 'Show', exact: true }).press('Enter');
  await page.getByText('Nothing was charged').waitFor();
  expect(new URL(page.url()).search).toBe('?from=2026-01-01&to=2026-01-31');

  const failed = await refusedCall(page);
  await page.getByRole('link', { name: 'Log', exact: true }).press('Enter');
  await page.getByRole('heading', { name: 'Log' }).waitFor();
  await eventually(async () => {
    await page.getByRole('button', { name: 'Refresh' }).press('Enter');
    return (await rows.count()) === 1;
  });
  await page.getByLabel('Request or session id').fill(failed);
  await page.keyboard.press('Enter');
  await expect.poll(() => new URL(page.url()).search).toBe(`?id=${failed}`);
  const call = await rows.first().innerText();
  for (const part of ['400', 'POST /v1/asr/sessions', 'missing_parameter', 'ms', failed]) {
    expect(call).toContain(part);
  }
  await page.getByText('GET /v1/models lists the model ids').waitFor();
  expect(await violations(page)).toEqual([]);
  await takePicturesOfEveryLook(page, 'log');
  await page.goto(`${service.url}/app/sessions/${id}`);

  await callApi(page, '/settings/language', { language: 'sw' });
  await page.reload();
  await page.getByRole('heading', { name: 'Kipindi cha' }).waitFor();
  await takePicturesOfEveryLook(page, 'session-sw');
  await page.goto(`${service.url}/app/sessions?status=active`);
  await page.getByText('Hakuna kipindi kinacholingana').waitFor();
  await page.getByRole('link', { name: 'Kumbukumbu' }).press('Enter');
  await page.getByText('missing_parameter').waitFor();
  expect(await violations(page)).toEqual([]);
  await takePicturesOfEveryLook(page, 'log-sw');
  await page.goto(`${service.url}/app/sessions?status=active`);
  await page.getByText('Hakuna kipindi kinacholingana').waitFor();
  expect(await violations(page)).toEqual([]);
  await takePicturesOfEveryLook(page, 'sessions-sw-empty');
  expect(complaints).toEqual([]);
});

test('a developer pages through sessions and filters them by day, key and origin', async () => {
  await awayFromMidnight();
  const { page, complaints } = await openPage(browser);
  await fillAccount(service, await service.admit('pager@example.com'));
  await signInAs(page, { service, email: 'pager@example.com' });
  await page.getByRole('link', { name: 'Sessions', exact: true }).click();
  const rows = page.locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(50);
  const first = await rows.first().getByRole('link').getAttribute('href');
  await page.getByRole('link', { name: 'Older' }).click();
  await expect.poll(() => rows.count()).toBeLessThan(50);
  expect(new URL(page.url()).search).toMatch(/^\?before=\d+$/);
  await page.getByRole('link', { name: 'Newest' }).click();
  await expect.poll(() => rows.count()).toBe(50);
  expect(await rows.first().getByRole('link').getAttribute('href')).toBe(first);

  const day = new Date().toISOString().slice(0, 10);
  await page.getByLabel('From').fill(day);
  const to = page.getByLabel('To', { exact: false }).first();
  await to.fill('2026-01-01');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('This is before the first day.').waitFor();
  expect(new URL(page.url()).search).toBe('');
  await to.fill(day);
  await page.getByLabel('API key').selectOption('production server');
  await page.getByRole('button', { name: 'Search' }).click();
  await expect.poll(() => rows.count()).toBeLessThan(10);
  expect(await rows.first().innerText()).toContain('production server');
  await page.getByLabel('API key').selectOption('Playground, no key');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('No session matches').waitFor();
  await page.getByRole('link', { name: 'Clear the filters' }).click();
  await page.getByLabel('Origin').fill('https://app.example.com');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('No session matches').waitFor();

  // On phones a search closes the filters, which would hide its result.
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${service.url}/app/sessions`);
  await page.getByText('Filters', { exact: true }).click();
  await page.getByLabel('Status').selectOption('failed');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('Filters (1)').waitFor();
  await expect.poll(() => rows.count()).toBe(1);
  expect(await page.getByLabel('Status').isVisible()).toBe(false);
  expect(complaints).toEqual([]);
});

test('times have the zone of the browser, filters mean its days, and each filter is a chip', async () => {
  await awayFromMidnight();
  const { page, context, complaints } = await openPage(browser, { timezoneId: 'Africa/Nairobi' });
  await fillAccount(service, await service.admit('nairobi@example.com'));
  await signInAs(page, { service, email: 'nairobi@example.com', path: '/app/sessions' });
  const rows = page.locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(50);
  await page.getByRole('columnheader', { name: 'Started (GMT+3)' }).waitFor();
  const { rows: newest } = await service.database.pool.query<{ at: string }>(
    `select to_char(max(s.created_at) at time zone 'Africa/Nairobi', 'HH24:MI') as at from sessions s
      join accounts a on a.id = s.account_id where a.email = 'nairobi@example.com'`,
  );
  expect(await rows.first().getByRole('link').innerText()).toMatch(`, ${newest[0]?.at}`);
  const day = new Date(Date.now() + 3 * 3_600_000).toISOString().slice(0, 10);
  await page.getByLabel('From (GMT+3)').fill(day);
  await page.getByLabel('Status').selectOption('completed');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.waitForURL(/from=/);
  expect(new URL(page.url()).searchParams.get('from')).toBe(`${day}T00:00:00+03:00`);
  expect(await page.getByLabel('From (GMT+3)').inputValue()).toBe(day);
  await page.getByRole('link', { name: /^From \(GMT\+3\): .+ 2/ }).waitFor();
  await takePicturesOfEveryLook(page, 'sessions-chips');
  expect(await violations(page)).toEqual([]);
  await page.getByRole('link', { name: /^Status: Completed/ }).click();
  await page.getByRole('link', { name: /^Status: / }).waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.has('status')).toBe(false);
  expect(new URL(page.url()).searchParams.has('from')).toBe(true);
  expect(complaints).toEqual([]);
  await context.close();
});
