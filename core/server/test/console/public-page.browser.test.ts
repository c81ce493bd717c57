import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startSherpaEngine, type SherpaEngine } from '@svc-asr/engine';
import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLedger } from '../../src/ledger/ledger.ts';
import { openPage, startConsoleSite } from '../support/console/console-chromium.ts';
import { seen } from '../support/console/console-seen.ts';
import type { ConsoleService } from '../support/console/console-service.ts';

/** The public page of a service with a price, terms and a demo, and a visitor with a microphone. */

const DEMO = '7f0c9a52-3d5e-4c0f-9d55-0d6b1f0f4f11';
const FIXTURES = join(import.meta.dirname, '../../../models/fixtures');

let engine: SherpaEngine;
let service: ConsoleService;
let browser: Browser;
beforeAll(async () => {
  engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
  [service, browser] = await Promise.all([
    startConsoleSite({
      engine,
      env: {
        DEMO_ACCOUNT: DEMO,
        PRICE_TEXT: 'KSh 1 per minute <of audio> & "more"',
        TERMS_URL: 'https://example.org/terms',
      },
    }),
    launchChromium({ microphone: join(FIXTURES, 'kikuyu-2.wav') }),
  ]);
  const db = service.database.pool;
  await db.query(`insert into accounts (id, name) values ($1, 'demo')`, [DEMO]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
  await engine.close();
});

async function fillPool(seconds: number): Promise<void> {
  const credit = { ms: seconds * 1_000, reason: 'pool', actor: 'test', id: crypto.randomUUID() };
  await createLedger(service.database.pool).grant({ accountId: DEMO, ...credit });
}

function demoCard(page: Page) {
  return page.getByRole('region', { name: 'Or try your own voice' });
}

test('a visitor reads at load that the demo is closed, then speaks for 20 seconds, is charged to the pool, and has no second try', async () => {
  const { page, context, complaints } = await openPage(browser, { permissions: ['microphone'] });
  await page.goto(service.url);
  const demo = demoCard(page);
  const start = demo.getByRole('button', { name: 'Speak for 20 seconds' });
  await demo.getByText('no credit left for today').waitFor();
  expect(await start.isDisabled()).toBe(true);
  await seen(page, 'public-demo-closed');

  await fillPool(20);
  await page.reload();
  await demo.getByText('Expect wrong words').waitFor();
  await start.focus();
  await page.keyboard.press('Enter');
  await demo.getByText('Speak now.').waitFor();
  await demo.getByText('ndũnyũ').waitFor();
  await seen(page, 'public-demo-listening');
  await demo.getByText('That was the demo.').waitFor();
  await seen(page, 'public-demo-over');
  await demo.getByRole('link', { name: 'Join the waitlist' }).waitFor();
  const { rows } = await service.database.pool.query(
    `select status, billable_ms from sessions where account_id = $1`,
    [DEMO],
  );
  expect(rows).toEqual([{ status: 'completed', billable_ms: 20_000 }]);

  await page.reload();
  await demo.getByText('already used from your network today').waitFor();
  expect(await start.isDisabled()).toBe(true);
  expect(complaints).toEqual([]);
  await context.close();
});

test('one recording plays at a time, in the chosen language, and its words appear as it plays', async () => {
  const { page, context } = await openPage(browser);
  await page.goto(service.url);
  await page.getByText('A streaming speech recognition API for call lines').waitFor();
  const facts = page.locator('[data-facts] li');
  expect(await facts.count()).toBe(4);
  const kikuyu = page.getByRole('button', { name: 'Play: Kikuyu' });
  const dholuo = page.getByRole('button', { name: 'Play: Dholuo' });
  expect(await dholuo.isVisible()).toBe(false);
  await kikuyu.click();
  const hidden = page.locator('[data-player] .opacity-0');
  await hidden.first().waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Pause: Kikuyu' }).waitFor();
  await page.getByRole('radio', { name: 'Kikuyu' }).focus();
  await page.keyboard.press('ArrowRight');
  await dholuo.click();
  await page.getByText('erokamano').waitFor();
  await page.getByRole('button', { name: 'Pause: Dholuo' }).waitFor();
  expect(await kikuyu.isVisible()).toBe(false);
  const paused = 'Array.from(document.querySelectorAll("audio"), ({ paused }) => paused)';
  expect(await page.evaluate(paused)).toEqual([true, false]);
  // At its end the whole transcript is there.
  await dholuo.waitFor();
  expect(await page.locator('.language-panel-1 .opacity-0').count()).toBe(0);
  await context.close();
});

test('copied code is the code alone, and runs as it is', async () => {
  const permissions = ['clipboard-read', 'clipboard-write'];
  const { page, context } = await openPage(browser, { permissions });
  const { apiKey } = await service.addTenant({ creditMs: 3_600_000 });
  await page.goto(service.url);
  const copied = async () => {
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    return page.evaluate<string>('navigator.clipboard.readText()');
  };
  const command = (await copied()).replace(/^curl /, 'curl -sk ');
  const env = { ...process.env, SVC_API_KEY: apiKey };
  const { stdout } = await promisify(execFile)('bash', ['-c', command], { env });
  expect(JSON.parse(stdout)).toMatchObject({ object: 'asr.session' });
  await page.getByRole('radio', { name: 'Node' }).check({ force: true });
  const shown = await page.getByRole('region', { name: 'Node' }).innerText();
  expect(await copied()).toBe(shown);
  await context.close();
});

test('a refused microphone uses up nothing', async () => {
  await service.database.pool.query('delete from demo_claims');
  await fillPool(20);
  const { page, context } = await openPage(browser);
  await page.addInitScript(
    `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))`,
  );
  await page.goto(service.url);
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().includes('/demo/')) asked += 1;
  });
  await demoCard(page).getByRole('button').click();
  await demoCard(page).getByText('Microphone access is blocked').waitFor();
  expect(asked).toBe(0);
  await context.close();
});

test('price, links and sharing tags come from the configuration, escaped', async () => {
  const { page, context } = await openPage(browser);
  for (const path of ['/', '/sw']) {
    await page.goto(service.url + path);
    await page.getByText('KSh 1 per minute <of audio> & "more"').waitFor();
    expect(await page.locator('a[href="https://example.org/terms"]').count()).toBe(1);
    expect(await page.locator('a[href="/docs/privacy"]').count()).toBe(1);
    const address = await page.locator('meta[property="og:url"]').getAttribute('content');
    expect(address).toBe(service.url + path);
    const image = await page.locator('meta[property="og:image"]').getAttribute('content');
    const picture = await page.request.get(image ?? '');
    expect(picture.headers()['content-type']).toBe('image/png');
    expect(await page.content()).not.toContain('{{');
  }
  await context.close();
});

test('code tabs work with the keyboard and without JavaScript', async () => {
  const { page, context } = await openPage(browser, { javaScriptEnabled: false });
  await page.goto(service.url);
  await page.getByRole('radio', { name: 'curl' }).focus();
  await page.getByRole('region', { name: 'curl' }).waitFor();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('region', { name: 'Node' }).waitFor();
  expect(await page.getByRole('region', { name: 'curl' }).count()).toBe(0);
  await context.close();
});

test('after joining, the form becomes what to do meanwhile, and has the focus', async () => {
  const { page, context } = await openPage(browser);
  await page.goto(service.url);
  await page.getByRole('button', { name: 'Join the waitlist' }).click();
  // The message is at the field that it is about.
  const message = await page.getByText('Enter an email address').boundingBox();
  const next = await page.getByLabel('What will you build?').boundingBox();
  expect(message?.y).toBeLessThan(next?.y ?? 0);
  await page.getByLabel('Email address').fill('joined@example.com');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: "You're on the list" }).waitFor();
  expect(await page.getByLabel('Email address').isVisible()).toBe(false);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${service.url}/docs/start/quickstart`);
  await context.close();
});

test('the page states the figures of the model card', async () => {
  const { page, context } = await openPage(browser);
  await page.goto(service.url);
  const card = readFileSync(join(FIXTURES, '../MODEL_CARD.md'), 'utf8');
  const [, rate = ''] = /^\| \(a\) [^|]*\| ([\d.]+) \//m.exec(card) ?? [];
  const row = page.getByRole('row', { name: 'Voices from the training' });
  expect(await row.getByRole('cell').first().innerText()).toBe(rate);
  await context.close();
});
