import { createScriptedEngine } from '@svc-asr/engine';
import { launchChromium } from '@svc-asr/testing/chromium.ts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPage, signInAs, startConsoleSite } from '../support/console/console-chromium.ts';
import { seen } from '../support/console/console-seen.ts';
import type { ConsoleService } from '../support/console/console-service.ts';

/** One sentence with a pause in it that is shorter than the pause that ends a line. */
const TURNS = [
  { text: 'ndarĩhire ciringi ngiri igĩrĩ', speechMs: 1_200 },
  { text: 'na magana matano', silenceMs: 1_200, speechMs: 900 },
];

let service: ConsoleService;
let browser: Browser;
beforeAll(async () => {
  const engine = createScriptedEngine({ script: { texts: [], turns: TURNS } });
  [service, browser] = await Promise.all([startConsoleSite({ engine }), launchChromium()]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

async function openOptions(email: string) {
  const opened = await openPage(browser, { permissions: ['microphone'] });
  await service.admit(email);
  await signInAs(opened.page, { service, email, path: '/app/playground' });
  await opened.page.getByText('Options', { exact: true }).click();
  return opened;
}

async function waitForLine(page: Page, text: RegExp): Promise<void> {
  await page.getByTestId('transcript').locator('p', { hasText: text }).waitFor();
}

test('shows where a line may have ended, and takes it back when the speaker goes on', async () => {
  const { page, context, complaints } = await openOptions('eager@example.com');
  await page.getByLabel('A line ends').selectOption('1500');
  await page.getByLabel('Show where a line may end').check();
  await page.getByRole('button', { name: 'Start speaking' }).click();
  const mark = page.getByTestId('may-have-ended');
  await waitForLine(page, /^ndarĩhire ciringi ngiri igĩrĩ may have ended here/);
  await mark.waitFor({ state: 'detached' });
  await waitForLine(page, /igĩrĩ na magana matano may have ended here/);
  await seen(page, 'playground-eager');
  await mark.waitFor({ state: 'detached' });
  await waitForLine(page, /igĩrĩ na magana matano\s*$/);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('charged.').waitFor();

  await page.getByRole('tab', { name: 'Events' }).click();
  const events = await page.getByRole('region', { name: 'Messages of the stream' }).innerText();
  expect(events.match(/"type":"turn_eager"/g)).toHaveLength(2);
  expect(events.match(/"type":"turn_resumed"/g)).toHaveLength(1);
  await page.getByRole('tab', { name: 'Code' }).click();
  await page.getByText('Your page', { exact: true }).click();
  await page.getByText('endpointing: { silenceMs: 1500, eagerMs: 250 }').waitFor();
  await page.getByText("stream.on('turn_eager'").waitFor();
  await seen(page, 'playground-eager-code');
  expect(complaints).toEqual([]);
  await context.close();
});

test('a line that ends only at the stop has no eager ends', async () => {
  const { page, context } = await openOptions('no-pauses@example.com');
  const box = page.getByLabel('Show where a line may end');
  await box.check();
  await page.getByLabel('A line ends').selectOption('none');
  expect([await box.isChecked(), await box.isDisabled()]).toEqual([false, true]);
  await page.getByRole('tab', { name: 'Code' }).click();
  await page.getByText('Your page', { exact: true }).click();
  await page.getByText('endpointing: false').waitFor();
  expect(await page.getByText('turn_eager').count()).toBe(0);
  await context.close();
});
