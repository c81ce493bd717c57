import { afterAll, expect, test } from 'vitest';
import { openPage, signInAs, startConsoleInChromium } from '../support/console/console-chromium.ts';
import { fillAccount } from '../support/console/console-history.ts';
import { seen } from '../support/console/console-seen.ts';

/** Somebody who pays sees what was charged, in any time and for any key. */

const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);

test('ranges, filters, totals and the values of a day, by pointer and keyboard', async () => {
  const { page, complaints } = await openPage(browser);
  await fillAccount(service, await service.admit('payer@example.com'));
  await signInAs(page, { service, email: 'payer@example.com', path: '/app/usage' });
  const chip = (name: string) => page.getByRole('link', { name, exact: true });
  await chip('This month').waitFor();
  expect(await chip('This month').getAttribute('aria-current')).toBe('true');
  await chip('Last 7 days').click();
  await expect.poll(() => chip('Last 7 days').getAttribute('aria-current')).toBe('true');
  const range = new URL(page.url()).search;
  expect(range).toMatch(/^\?from=\d{4}-\d\d-\d\d&to=\d{4}-\d\d-\d\d$/);

  const total = page.getByRole('row', { name: 'Total' });
  expect(await total.innerText()).toContain('100 %');
  const [, all = ''] = (await total.innerText()).split(/\s{2,}|\t/);
  const figures = await page.locator('dl > div').allInnerTexts();
  expect(figures).toHaveLength(4);
  expect(figures[1]).toContain(all.trim());
  // Milliseconds are only in the file.
  expect(await page.locator('main').innerText()).not.toContain('Milliseconds');

  const chart = page.getByRole('slider', { name: 'Audio charged per day and model' });
  await chart.focus();
  const values = page.getByTestId('day-values');
  const last = await values.innerText();
  expect(last).toContain('Kikuyu');
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => values.innerText()).not.toBe(last);
  await seen(page, 'usage-day');
  await page.keyboard.press('Escape');
  await values.waitFor({ state: 'detached' });
  await chart.hover();
  await values.waitFor();

  // On a phone the four figures stand two by two, so that the chart is on the first screens.
  await page.setViewportSize({ width: 390, height: 844 });
  const [first, second] = await page.locator('dl > div').all();
  expect((await first?.boundingBox())?.y).toBe((await second?.boundingBox())?.y);
  expect((await page.locator('dl:has(> .card)').boundingBox())?.height).toBeLessThan(320);
  await page.setViewportSize({ width: 1280, height: 860 });

  await page.getByRole('combobox', { name: 'Model' }).selectOption('Dholuo');
  await expect.poll(() => new URL(page.url()).search).toBe(`${range}&model=svc-asr-dholuo-v1`);
  await expect.poll(() => page.locator('tbody tr').count()).toBe(2);
  const csv = await page.getByRole('link', { name: 'Download CSV' }).getAttribute('href');
  expect(csv).toBe(`/console-api/usage.csv${range}&model=svc-asr-dholuo-v1`);
  await page.getByRole('combobox', { name: 'API key' }).selectOption('production server');
  await expect.poll(() => new URL(page.url()).search).toContain('&key=');

  // Credit is for all keys, so the pace of one says nothing about it.
  await page.getByText('for all keys and languages').waitFor();
  await page.emulateMedia({ media: 'print' });
  await page.getByText('svc-asr statement of payer@example.com').waitFor();
  // A statement of a part says so.
  await page.getByText('API key: production server, Model: Dholuo').waitFor();
  expect(await page.getByRole('navigation', { name: 'Main' }).isVisible()).toBe(false);
  expect(complaints).toEqual([]);
});
