import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startSherpaEngine, type SherpaEngine } from '@svc-asr/engine';
import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import { standInModels } from '@svc-asr/testing/speech/stand-in.ts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../support/console/console-axe.ts';
import { openPage, signInAs, startConsoleSite } from '../support/console/console-chromium.ts';
import {
  DEVICES,
  takePicture,
  takePicturesOfEveryLook,
} from '../support/console/console-pictures.ts';
import type { ConsoleService } from '../support/console/console-service.ts';

const SPEECH = join(import.meta.dirname, '../../../models/fixtures/dholuo-2.wav');
const LM = join(import.meta.dirname, '../../../engine/test/lm/characters.bin');
/** The stand-in writes another vowel in this word unless it listens for it. */
const TERM = 'mondo';
const HEARD = 'mũndo';

const searching = standInModels({
  lm: LM,
  decoding: { unit: 'character', alpha: 0, beta: 0, beam: 16 },
});
let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await rm(searching, { recursive: true });
});

async function withPlayground(
  modelsDir: string,
  use: (page: Page, service: ConsoleService) => Promise<void>,
): Promise<void> {
  const engine: SherpaEngine = await startSherpaEngine({ modelsDir, children: 1 });
  const service = await startConsoleSite({ engine });
  const { page, context, complaints } = await openPage(browser);
  try {
    await service.admit('names@example.com');
    await signInAs(page, { service, email: 'names@example.com', path: '/app/playground' });
    await page.getByText('Dholuo').first().click();
    await page.getByText('Options', { exact: true }).click();
    await use(page, service);
    expect(complaints).toEqual([]);
  } finally {
    await context.close();
    await service.stop();
    await engine.close();
  }
}

async function transcribe(page: Page): Promise<string[]> {
  await page.locator('input[type=file]').setInputFiles(SPEECH);
  await page.getByText('charged.').waitFor({ state: 'detached' });
  await page.getByText('charged.').waitFor();
  const text = await page.getByTestId('transcript').innerText();
  return text.trim().split(/\s+/);
}

async function seen(page: Page, name: string): Promise<void> {
  expect(await violations(page)).toEqual([]);
  await takePicturesOfEveryLook(page, name);
  await page.setViewportSize(DEVICES.phone.viewport);
  await page.getByLabel('Keyterms').scrollIntoViewIfNeeded();
  expect(await violations(page)).toEqual([]);
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await takePicture(page, `${name}-field-phone-${colorScheme}`);
  }
  await page.setViewportSize(DEVICES.desktop.viewport);
}

test('finds a keyterm, and says which were listened for and why others were not', async () => {
  await withPlayground(searching, async (page) => {
    const plain = await transcribe(page);
    expect(plain).toContain(HEARD);
    expect(plain).not.toContain(TERM);
    await page.getByLabel('Keyterms').fill('Mondo\n3G, mondo');
    await page.getByText('3 of 100 terms').waitFor();
    expect(await transcribe(page)).toContain(TERM);
    await page.getByText('Listened for: mondo').waitFor();
    await page.getByText('Not used: 3G (only letters of the two languages').waitFor();
    await page.getByText('Not used: mondo (already in the list)').waitFor();
    await seen(page, 'playground-keyterms');
    // The code for a page has the list, so that it does the same.
    await page.getByRole('tab', { name: 'Code' }).click();
    await page.getByText('Your page', { exact: true }).click();
    const code = await page.getByRole('region', { name: 'Use it in your code' }).innerText();
    expect(code).toContain('keyterms: ["Mondo","3G","mondo"]');
    // Keyterms are content: this browser keeps transcripts until the sign-out, but not the list.
    const stored: string = await page.evaluate('JSON.stringify({ ...localStorage })');
    expect(stored).not.toContain('Mondo');
    expect(stored).not.toContain('3G');
  });
});

test('warns before a run about a list over the limit, and the run says what was left out', async () => {
  await withPlayground(searching, async (page) => {
    const field = page.getByLabel('Keyterms');
    const names = Array.from(
      { length: 102 },
      (_, at) => `${'abcdefghij'[at % 10]}${'klmnopqrst'[Math.floor(at / 10)] ?? 'z'}a`,
    );
    await field.fill(names.join('\n'));
    await page.getByText('At most 100 terms').waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await transcribe(page);
    await page.getByText('Not used: the last 2 terms').waitFor();
    await seen(page, 'playground-keyterms-many');
    await field.fill('Mondo');
    await page.getByText('At most 100 terms').waitFor({ state: 'detached' });
  });
});

test('a model that ignores keyterms closes the field and says so, for that model only', async () => {
  await withPlayground(MODELS_DIR, async (page) => {
    const field = page.getByLabel('Keyterms');
    await field.fill('Mondo');
    await transcribe(page);
    await page.getByText('This model ignores keyterms.').waitFor();
    expect(await field.isDisabled()).toBe(true);
    expect(await page.getByText('Not used').count()).toBe(0);
    await seen(page, 'playground-keyterms-unsupported');
    await page.getByText('Kikuyu').first().click();
    expect(await field.isDisabled()).toBe(false);
  });
});
