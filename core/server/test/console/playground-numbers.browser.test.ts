import { join } from 'node:path';
import { createScriptedEngine } from '@svc-asr/engine';
import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { openPage, signInAs, startConsoleSite } from '../support/console/console-chromium.ts';
import { seen } from '../support/console/console-seen.ts';
import type { ConsoleService } from '../support/console/console-service.ts';

const SPEECH = join(import.meta.dirname, '../../../models/fixtures/kikuyu-1.wav');
const SAID = 'ndarĩhire ciringi ngiri igĩrĩ na magana matano';

let service: ConsoleService;
let browser: Browser;
beforeAll(async () => {
  const engine = createScriptedEngine({ script: { texts: [SAID] } });
  [service, browser] = await Promise.all([startConsoleSite({ engine }), launchChromium()]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

test('numbers are shown as digits, scored by their words, and in the code to copy', async () => {
  const { page, context, complaints } = await openPage(browser);
  await service.admit('digits@example.com');
  await signInAs(page, { service, email: 'digits@example.com' });
  await page.goto(`${service.url}/app/playground`);
  await page.getByText('Options', { exact: true }).click();
  await page.getByLabel('Write numbers as digits').check();
  await page.getByLabel('Reference text').fill(SAID);
  await page.locator('input[type=file]').setInputFiles(SPEECH);
  await page.getByText('charged.').waitFor();
  const shown = await page.getByTestId('transcript').innerText();
  expect(shown.replaceAll(/\s+/g, ' ').trim()).toBe('ndarĩhire ciringi 2500');
  expect(await page.getByTestId('word-errors').innerText()).toContain('Word error rate 0 %.');
  await page.getByRole('tab', { name: 'Code' }).click();
  await page.getByText('Your page', { exact: true }).click();
  await page.getByText('numbers: true').waitFor();
  await seen(page, 'playground-numbers');
  expect(complaints).toEqual([]);
  await context.close();
});
