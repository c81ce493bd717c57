import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { AsrSession } from '@svc-asr/protocol';
import { afterAll, expect, test } from 'vitest';
import {
  openPage,
  signInAs,
  signInWithCode,
  signInWithNewPasskey,
  startConsoleInChromium,
} from '../support/console/console-chromium.ts';

/** The complete user journey in Chromium, with HTTPS, mail over SMTP and curl. */

const FOCUSED_TEXT = 'document.activeElement.textContent';

const { service, browser, stop } = await startConsoleInChromium({
  operator: 'operator@example.com',
});
afterAll(stop);

async function curl(args: readonly string[]): Promise<{ status: number; body: string }> {
  const { stdout } = await promisify(execFile)('curl', ['-sk', '-w', '\n%{http_code}', ...args]);
  const [status = '', ...body] = stdout.split('\n').toReversed();
  return { status: Number(status), body: body.toReversed().join('\n') };
}

function callSessions(secret: string): Promise<{ status: number; body: string }> {
  const key = ['-H', `Authorization: Bearer ${secret}`];
  const body = ['--json', '{"model":"svc-asr-kikuyu-v1","max_audio_seconds":5}'];
  return curl([`${service.url}/v1/asr/sessions`, ...key, ...body]);
}

/** The exact command from the console, with -k because the test's certificate is self-signed. */
async function runShownCurl(shown: string, secret: string): Promise<AsrSession> {
  const command = shown.replace(/^curl /, 'curl -sk ');
  const env = { ...process.env, SVC_API_KEY: secret };
  const { stdout } = await promisify(execFile)('bash', ['-c', command], { env });
  return JSON.parse(stdout);
}

test('K01 K02 waitlist, approval by an operator, email, sign-in, key, curl with that key, revoked within 5 s', async () => {
  const hopeful = 'njeri@example.com';
  const visitor = await openPage(browser);
  const { page } = visitor;
  await page.goto(service.url);
  await page.getByLabel('Email address').fill(hopeful);
  await page.getByLabel('What will you build?').fill('A radio archive');
  await page.getByRole('button', { name: 'Join the waitlist' }).click();
  await page.getByRole('heading', { name: "You're on the list" }).waitFor();

  const desk = await openPage(browser);
  await signInWithNewPasskey(desk.page, { service, email: 'operator@example.com' });
  await desk.page.getByRole('link', { name: 'Operator' }).click();
  await desk.page.getByRole('link', { name: '1 person waits for access' }).click();
  await desk.page.getByText('A radio archive').waitFor();
  await desk.page.getByLabel('Credit (minutes)').fill('30');
  // An old sign-in must be confirmed again: the device answers the prompt.
  await service.database.pool.query(
    `update console_sessions set confirmed_at = confirmed_at - interval '1 hour'`,
  );
  await desk.page.getByRole('button', { name: `Approve ${hopeful}` }).click();
  await desk.page.getByText('1 request is approved').waitFor();

  const letter = await service.mail.take(hopeful);
  expect(letter.text).toContain(`${service.url}/app`);
  await signInWithCode(page, { service, email: hopeful });
  await page.getByText('30 min').first().waitFor();

  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByLabel('Name').fill('archive server');
  await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
  const secret = await page.getByLabel('API key', { exact: true }).innerText();
  expect(secret).toMatch(/^svc_live_v1_[0-9A-Za-z]{50}$/);
  await page.getByText('Try it from your server').click();
  const shown = await page.getByRole('region', { name: 'Try it from your server' }).innerText();
  // Escape must not discard the key, which can't be shown again.
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('heading', { name: 'archive server' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'archive server' }).waitFor();
  expect(await page.content()).not.toContain(secret.slice(24));

  const session = await runShownCurl(shown, secret);
  expect(session.credits).toMatchObject({ reserved: 60, remaining: 30 * 60 - 60 });

  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByText('A session is waiting for its client').waitFor();

  const hint = secret.slice(0, 24);
  const used = `select last_used_at is not null as used from api_keys where $1 like '%' || id`;
  await expect
    .poll(async () => (await service.database.pool.query(used, [hint])).rows[0]?.used)
    .toBe(true);
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Revoke archive server' }).click();
  // The key is in use.
  await page.getByLabel('Type the last four characters').fill(hint.slice(-4));
  await page.getByRole('button', { name: 'Revoke the key' }).click();
  await page.getByText('"archive server" is revoked.').waitFor();
  await expect
    .poll(async () => (await callSessions(secret)).status, { timeout: 5_000, interval: 200 })
    .toBe(401);

  expect([...visitor.complaints, ...desk.complaints]).toEqual([]);
  await visitor.context.close();
  await desk.context.close();
});

test('everything works with the keyboard alone, and focus returns', async () => {
  const { page, context } = await openPage(browser);
  await service.admit('keys-only@example.com');
  await page.goto(`${service.url}/app`);
  await page.getByLabel('Email address').waitFor();
  await page.keyboard.type('keys-only@example.com');
  await page.keyboard.press('Enter');
  await page.getByLabel('Code').waitFor();
  await page.keyboard.type(await service.mail.takeCode('keys-only@example.com'));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('Tab');
  expect(await page.evaluate<string>(FOCUSED_TEXT)).toBe('Skip to content');
  await page.getByRole('link', { name: 'API keys' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
  expect(await page.evaluate<string>('document.activeElement.id')).toBe('main');
  const opener = page.getByRole('button', { name: 'Create a key' });
  await opener.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.evaluate<string>(FOCUSED_TEXT)).toBe('Create a key');
  await context.close();
});

test('the overview stays on the screen during a network outage', async () => {
  const { page, context } = await openPage(browser);
  await service.admit('far@example.com');
  await page.clock.install();
  await signInAs(page, { service, email: 'far@example.com' });
  const shown = page.getByRole('heading', { name: 'Recent sessions' });
  await shown.waitFor();
  await page.route('**/console-api/overview', (route) => route.abort());
  // The second poll comes after the failure of the first was rendered.
  for (let look = 0; look < 2; look += 1) {
    const failed = page.waitForEvent('requestfailed');
    await page.clock.runFor(31_000);
    await failed;
  }
  expect(await shown.isVisible()).toBe(true);
  await context.close();
});

test('the console and its emails are in Swahili for people who chose it', async () => {
  const { page, context } = await openPage(browser, { locale: 'sw-KE' });
  await service.admit('baraka@example.com');
  await page.goto(`${service.url}/app`);
  await page.getByLabel('Anwani ya barua pepe').fill('baraka@example.com');
  await page.getByRole('button', { name: 'Nitumie msimbo' }).click();
  const code = await service.mail.takeCode('baraka@example.com');
  // The welcome email may arrive after the code, because emails are not ordered.
  const letters = service.mail.emails.filter(({ to }) => to === 'baraka@example.com');
  expect(letters.map(({ text }) => text).join('\n')).toContain('Msimbo wako wa kuingia');
  await page.getByLabel('Msimbo').fill(code);
  await page.getByRole('button', { name: 'Ingia' }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await context.close();
});

test('the pages forbid inline scripts, frames and other hosts, and are cached', async () => {
  for (const path of ['/', '/sw', '/app', '/app/keys']) {
    const { body } = await curl(['-i', service.url + path]);
    const policy = /^content-security-policy: (.*)$/im.exec(body)?.[1] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(body).toMatch(/^strict-transport-security: max-age=31536000/im);
    expect(body).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=|<style|\sstyle=/i);
  }
  const page = await curl([service.url]);
  const [script = ''] = /\/assets\/[\w-]+\.js/.exec(page.body) ?? [];
  const asset = await curl(['-i', '-H', 'Accept-Encoding: br', '-o', '-', service.url + script]);
  expect(asset.body).toMatch(/content-encoding: br/i);
  expect(asset.body).toMatch(/cache-control: public, max-age=31536000, immutable/i);
});
