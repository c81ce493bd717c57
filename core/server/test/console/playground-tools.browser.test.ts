import { join } from 'node:path';
import { startSherpaEngine, type SherpaEngine } from '@svc-asr/engine';
import type { Overview } from '@svc-asr/protocol/console/console.ts';
import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLedger } from '../../src/ledger/ledger.ts';
import { openPage, signInAs, startConsoleSite } from '../support/console/console-chromium.ts';
import { seen } from '../support/console/console-seen.ts';
import type { ConsoleService } from '../support/console/console-service.ts';

/** Samples, playback, both models, word errors and raw events, with the real recogniser. */

let engine: SherpaEngine;
let service: ConsoleService;
let browser: Browser;
beforeAll(async () => {
  engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
  [service, browser] = await Promise.all([startConsoleSite({ engine }), launchChromium()]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
  await engine.close();
});

async function openPlayground(email: string) {
  const opened = await openPage(browser);
  await service.admit(email);
  await signInAs(opened.page, { service, email, path: '/app/playground' });
  await opened.page.getByRole('heading', { level: 1 }).waitFor();
  return opened;
}

async function wordsIn(page: Page, testId: string): Promise<string> {
  const text = await page.getByTestId(testId).innerText();
  return text.replaceAll(/\s+/g, ' ').trim();
}

test('a sample is recognised, scored, played with its words lit up, and compared with the other model', async () => {
  const { page, context, complaints } = await openPlayground('tools@example.com');
  // So that the credit that is left is a long figure.
  const more = { ms: 36_000_000, reason: 'test', actor: 'test', id: crypto.randomUUID() };
  const accountId = await service.accountOf('tools@example.com');
  await createLedger(service.database.pool).grant({ accountId, ...more });
  await page.reload();
  await page.getByRole('button', { name: 'Kikuyu 1' }).click();
  await page.getByText('charged.').waitFor();
  expect(await wordsIn(page, 'transcript')).toBe('wĩ mwega nĩndakena nĩ gũkuona');
  const score = page.getByTestId('word-errors');
  expect(await score.innerText()).toContain('Word error rate 0 %.');

  await page.getByRole('button', { name: 'Play the recording' }).click();
  const lit = page.getByTestId('transcript').locator('[data-played=true]');
  const heard = new Set<string>();
  await expect
    .poll(
      async () => {
        for (const word of await lit.allInnerTexts()) heard.add(word);
        return heard.size;
      },
      { interval: 30 },
    )
    .toBeGreaterThanOrEqual(3);
  await page.getByRole('button', { name: 'Play the recording' }).waitFor();

  await page.getByRole('button', { name: 'Recognise it in Dholuo too' }).click();
  await page.getByText('charged.').nth(1).waitFor();
  expect(await wordsIn(page, 'transcript')).toBe('wĩ mwega nĩndakena nĩ gũkuona');
  expect((await wordsIn(page, 'transcript-other')).length).toBeGreaterThan(0);
  expect(await score.count()).toBe(2);
  await page.getByLabel('Show confidence').check();
  await page.getByText('Ended: you stopped').first().waitFor();
  await seen(page, 'playground-compared');

  const overview: Overview = await page.evaluate(
    `fetch('/console-api/overview').then((answer) => answer.json())`,
  );
  expect(overview.sessions.map(({ model, billable_ms }) => [model, billable_ms])).toEqual([
    ['svc-asr-dholuo-v1', 3_000],
    ['svc-asr-kikuyu-v1', 3_000],
  ]);
  expect(complaints).toEqual([]);
  await context.close();
});

test('the words of a sample do not judge the next recording', async () => {
  const { page, context } = await openPlayground('next@example.com');
  await page.getByRole('button', { name: 'Kikuyu 1' }).click();
  await page.getByTestId('word-errors').waitFor();
  await page.locator('input[type=file]').setInputFiles(join(MODELS_DIR, 'fixtures/kikuyu-2.wav'));
  await page.getByTestId('transcript').getByText('ndũnyũ').waitFor();
  await page.getByText('charged.').waitFor();
  expect(await page.getByTestId('word-errors').count()).toBe(0);
  await context.close();
});

test('scores with and without tildes in the page; the reference text is sent nowhere', async () => {
  const { page, context } = await openPlayground('reference@example.com');
  const sent: string[] = [];
  page.on('request', (request) => sent.push(request.postData() ?? ''));
  page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => sent.push(String(payload))),
  );
  await page.getByRole('button', { name: 'Kikuyu 1' }).click();
  await page.getByText('charged.').waitFor();
  await page.getByText('Options', { exact: true }).click();
  await page.getByLabel('Reference text').fill('Wi mwega? Nindakena ni gukuona xylophone.');
  const score = await page.getByTestId('word-errors').innerText();
  expect(score).toContain('Word error rate 83.3 %. 5 wrong, missing or extra for 6 words.');
  expect(score).toContain('Without tildes: 16.7 %.');
  expect(sent.join('\n')).not.toContain('xylophone');
  await context.close();
});

test('shows every message of the stream, and ends lines only at the end if asked to', async () => {
  const { page, context } = await openPlayground('events@example.com');
  const received: string[] = [];
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => received.push(String(payload))),
  );
  await seen(page, 'playground-idle');
  const events = page.getByRole('region', { name: 'Messages of the stream' });
  await page.getByRole('button', { name: 'Dholuo 1' }).click();
  await page.getByText('charged.').waitFor();
  await page.getByRole('tab', { name: 'Events' }).click();
  await seen(page, 'playground-events');
  const withPauses = await events.innerText();
  // The recogniser may finish the sentence before there is a delta to send.
  for (const type of ['ready', 'final', 'speech_started']) {
    expect(withPauses).toContain(`"type":"${type}"`);
  }
  const shown = [...withPauses.matchAll(/\d  (\{"type".*)/g)].map(([, message]) => message);
  // The SDK keeps the answer to its own configuration.
  expect(shown).toEqual(received.filter((message) => !message.includes('"config_ack"')));
  expect(withPauses).toContain('"close":1000');
  await page.getByText('Options', { exact: true }).click();
  await page.getByLabel('A line ends').selectOption('none');
  await page.getByRole('button', { name: 'Dholuo 1' }).click();
  // A new run is shown as it is recognised.
  await page.getByRole('tab', { name: 'Transcript', selected: true }).waitFor();
  await page.getByText('charged.').waitFor({ state: 'detached' });
  await page.getByText('charged.').waitFor();
  await page.getByRole('tab', { name: 'Events' }).click();
  const without = await events.innerText();
  expect(without).toContain('"type":"final"');
  expect(without).not.toContain('speech_started');
  await context.close();
});

test('options are folded, and Transcript, Events and Code are tabs that the arrow keys change', async () => {
  const { page, context, complaints } = await openPlayground('tabs@example.com');
  expect(await page.getByLabel('A line ends').isVisible()).toBe(false);
  expect(await page.getByLabel('Reference text').isVisible()).toBe(false);
  for (const { width, height } of [
    { width: 1280, height: 860 },
    { width: 1024, height: 768 },
  ]) {
    await page.setViewportSize({ width, height });
    const box = await page.getByTestId('transcript').boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(height);
  }
  await page.getByRole('tab', { name: 'Transcript' }).focus();
  await page.keyboard.press('ArrowRight');
  await page.getByText('Start a run.').waitFor();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('region', { name: 'Use it in your code' }).waitFor();
  await seen(page, 'playground-code');
  expect(await page.getByTestId('transcript').isVisible()).toBe(false);
  await page.keyboard.press('ArrowRight');
  expect(await page.getByTestId('transcript').isVisible()).toBe(true);
  expect(complaints).toEqual([]);
  await context.close();
});

test('works with the keyboard alone: sample, playback, details', async () => {
  const { page, context } = await openPlayground('keyboard@example.com');
  await page.getByRole('button', { name: 'Kikuyu 2' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('charged.').waitFor();
  await page.getByRole('button', { name: 'Play the recording' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Stop playing' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Play the recording' }).waitFor();
  await page.getByLabel('Show confidence').focus();
  await page.keyboard.press('Space');
  await page.getByText(/^Mean confidence \d+ %/).waitFor();
  expect(await page.getByLabel('Show confidence').isChecked()).toBe(true);
  await context.close();
});

test('a sample that can’t be loaded says so and charges nothing', async () => {
  const { page, context } = await openPlayground('lost@example.com');
  await page.route('**/examples/*.wav', (route) => route.abort());
  await page.getByRole('button', { name: 'Kikuyu 1' }).click();
  await page.getByText('The sample could not be loaded.').waitFor();
  const overview: Overview = await page.evaluate(
    `fetch('/console-api/overview').then((answer) => answer.json())`,
  );
  expect(overview.sessions).toEqual([]);
  await context.close();
});
