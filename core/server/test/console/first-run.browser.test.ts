import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startSherpaEngine, type SherpaEngine } from '@svc-asr/engine';
import type { FirstRun, Overview } from '@svc-asr/protocol/console/console.ts';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addMember } from '../../src/accounts/people/members.ts';
import { violations } from '../support/console/console-axe.ts';
import {
  openPage,
  shownEnvironment,
  signInAs,
  startConsoleSite,
} from '../support/console/console-chromium.ts';
import { takePicturesOfEveryLook } from '../support/console/console-pictures.ts';
import type { ConsoleService } from '../support/console/console-service.ts';

/** From an empty account to the first words, with the programs on the screen and the real recogniser. */

const certificate = await makeCertificate();
let engine: SherpaEngine;
let service: ConsoleService;
let browser: Browser;
beforeAll(async () => {
  engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
  const env = { TLS_CERT_FILE: certificate.certFile, TLS_KEY_FILE: certificate.keyFile };
  [service, browser] = await Promise.all([startConsoleSite({ engine, env }), launchChromium()]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
  await engine.close();
});

function stepsOf(page: Page): Promise<FirstRun> {
  return page.evaluate(`fetch('/console-api/first-run').then((answer) => answer.json())`);
}

async function isTicked(page: Page, step: string): Promise<boolean> {
  const heading = page.getByRole('heading', { name: `${step} : Done` });
  await heading.waitFor();
  return heading.isVisible();
}

test('ticks key, call and words while the page is open, with the program from the screen', async () => {
  const { page, context, complaints } = await openPage(browser);
  // Without the poll every 30 s, only a step that is done loads the figures again.
  await page.addInitScript(`{
    const repeat = window.setInterval;
    window.setInterval = (work, ms) => (ms === 30_000 ? 0 : repeat(work, ms));
  }`);
  await service.admit('starter@example.com');
  await signInAs(page, { service, email: 'starter@example.com' });
  await page.getByRole('heading', { name: 'First steps' }).waitFor();
  expect(await stepsOf(page)).toEqual({ key: false, call: false, words: false });
  expect((await shownEnvironment(page))['SVC_API_KEY']).toBe('svc_live_v1_...');

  await page.getByRole('button', { name: 'Create a key' }).first().focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Name').fill('laptop');
  await page.keyboard.press('Enter');
  await page.getByLabel('Your new API key').waitFor();
  expect(await isTicked(page, 'Create an API key')).toBe(true);
  const environment = await shownEnvironment(page);
  expect(environment['SVC_API_KEY']).toMatch(/^svc_live_v1_[0-9A-Za-z]{50}$/);
  expect(await violations(page)).toEqual([]);

  // The key would be lost.
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByText('Leave without storing the key?').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();

  const program = await page.getByRole('region', { name: 'Program: Node' }).innerText();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  expect((await shownEnvironment(page))['SVC_API_KEY']).toBe('svc_live_v1_...');
  expect(await page.content()).not.toContain(environment['SVC_API_KEY']?.slice(24));

  const folder = await mkdtemp(join(tmpdir(), 'svc-first-'));
  await writeFile(join(folder, 'words.mjs'), program);
  // The certificate of the test is self-signed.
  const env = { ...process.env, ...environment, NODE_EXTRA_CA_CERTS: certificate.certFile };
  const { stdout } = await promisify(execFile)('node', ['words.mjs'], { cwd: folder, env });
  expect(stdout.trim().split('\n').at(-1)).toBe('wĩ mwega nĩndakena nĩ gũkuona');

  expect(await isTicked(page, 'Make a call')).toBe(true);
  expect(await isTicked(page, 'Get your first words')).toBe(true);
  await page.getByText('You are set up.').waitFor();
  await page.getByText('rounded up once to 3 s').first().waitFor();
  // The sample is far from the limit of its session. A busy machine may have queued it before.
  const warned = `select 'limit_warning' = any(hints) as warned from session_details`;
  await expect
    .poll(async () => (await service.database.pool.query(warned)).rows)
    .toEqual([{ warned: false }]);
  await takePicturesOfEveryLook(page, 'first-run-done');
  await page.reload();
  await page.getByRole('heading', { name: 'Recent sessions' }).waitFor();
  expect(await page.getByRole('heading', { name: 'First steps' }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a member sees the steps of the account and is told who creates keys', async () => {
  const accountId = await service.admit('boss@example.com');
  const member = {
    accountId,
    email: 'helper@example.com',
    role: 'member',
    language: 'en',
  } as const;
  await addMember(service.database.pool, member);
  const { page, context } = await openPage(browser);
  await signInAs(page, { service, email: 'helper@example.com' });
  await page.getByText('Only owners can create keys.').waitFor();
  const overview: Overview = await page.evaluate(
    `fetch('/console-api/overview').then((answer) => answer.json())`,
  );
  expect(overview.first_run).toEqual({ key: false, call: false, words: false });
  await context.close();
});

test("another account's key, call and words tick nothing, and neither does age alone", async () => {
  const accountId = await service.admit('veteran@example.com');
  const { page, context } = await openPage(browser);
  await signInAs(page, { service, email: 'veteran@example.com' });
  expect(await stepsOf(page)).toEqual({ key: false, call: false, words: false });
  const db = service.database.pool;
  await db.query(`update accounts set created_at = created_at - interval '31 days' where id = $1`, [
    accountId,
  ]);
  expect((await stepsOf(page)).words).toBe(false);
  await context.close();
});
