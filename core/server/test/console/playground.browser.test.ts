import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startSherpaEngine, type SherpaEngine } from '@svc-asr/engine';
import { read } from '@svc-asr/testing/speech/event-reader.ts';
import { MODELS_DIR, speech } from '@svc-asr/testing/speech/fixtures.ts';
import type { NewKey, Overview } from '@svc-asr/protocol/console/console.ts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../support/console/console-axe.ts';
import { launchChromium } from '@svc-asr/testing/chromium.ts';
import {
  openPage,
  signInAs,
  startConsoleSite,
  type WatchedPage,
} from '../support/console/console-chromium.ts';
import { DEVICES, takePicture } from '../support/console/console-pictures.ts';
import { seen } from '../support/console/console-seen.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import type { ConsoleService } from '../support/console/console-service.ts';

/** Speech through a real browser's microphone to the real recogniser and back onto the screen. */

const FIXTURES = join(import.meta.dirname, '../../../models/fixtures');
const SENTENCE = 'kikuyu-1';

let engine: SherpaEngine;
let service: ConsoleService;
let browser: Browser;
beforeAll(async () => {
  engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
  const microphone = await wavWithPauses([SENTENCE]);
  [service, browser] = await Promise.all([
    startConsoleSite({ engine }),
    launchChromium({ microphone }),
  ]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
  await engine.close();
});

/** Adds a second of silence before and after each sentence, because nobody speaks the instant the microphone opens. */
async function wavWithPauses(fixtures: readonly string[], betweenSeconds = 1): Promise<string> {
  const wavs = fixtures.map((name) => readFileSync(join(FIXTURES, `${name}.wav`)));
  const pause = Buffer.alloc(32_000);
  const between = Buffer.alloc(betweenSeconds * 32_000);
  const header = Buffer.from(wavs[0]?.subarray(0, 44) ?? []);
  const spoken = wavs.flatMap((wav, at) => [at === 0 ? pause : between, wav.subarray(44)]);
  const audio = Buffer.concat([...spoken, pause]);
  header.writeUInt32LE(36 + audio.length, 4);
  header.writeUInt32LE(audio.length, 40);
  const padded = join(await mkdtemp(join(tmpdir(), 'svc-microphone-')), 'sentences.wav');
  await writeFile(padded, Buffer.concat([header, audio]));
  return padded;
}

function wordsOf(fixture: string): string[] {
  const text = readFileSync(join(FIXTURES, `${fixture}.txt`), 'utf8');
  return text
    .toLowerCase()
    .replaceAll(/[?.,!]/g, '')
    .trim()
    .split(/\s+/);
}

/** The demo model may get one word of a sentence wrong, never two. */
function expectWords(transcript: string, words: string[]): void {
  const heard = transcript.split(' ');
  const right = words.filter((word) => heard.includes(word));
  expect(right.length, `heard "${transcript}"`).toBeGreaterThanOrEqual(words.length - 1);
}

async function transcriptOf(page: Page): Promise<string> {
  const text = await page.getByTestId('transcript').innerText();
  return text.replaceAll(/\s+/g, ' ').trim();
}

test('K03 shows microphone speech word by word and charges it to the second, without a key in the page', async () => {
  const { page, complaints } = await openPage(browser, { permissions: ['microphone'] });
  const sent: string[] = [];
  page.on('request', (request) => {
    sent.push(request.url(), request.postData() ?? '', JSON.stringify(request.headers()));
  });
  page.on('websocket', (socket) => {
    sent.push(socket.url());
    socket.on('framereceived', ({ payload }) => sent.push(String(payload)));
  });
  await service.admit('speaker@example.com');
  await signInAs(page, { service, email: 'speaker@example.com', path: '/app/playground' });
  await page.getByRole('button', { name: 'Start speaking' }).click();

  const words = wordsOf(SENTENCE);
  const growth: string[] = [];
  await expect
    .poll(
      async () => {
        const now = await transcriptOf(page);
        if (now !== growth.at(-1)) growth.push(now);
        return now.split(' ').filter((word) => words.includes(word)).length;
      },
      { interval: 50 },
    )
    .toBeGreaterThanOrEqual(words.length - 1);
  await seen(page, 'playground-listening');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('charged.').waitFor();
  await seen(page, 'playground-done');

  expectWords(await transcriptOf(page), words);
  expect(growth.length, `it grew: ${growth.join(' / ')}`).toBeGreaterThan(2);
  expect(sent.join('\n')).not.toContain('svc_live_v1_');
  const overview: Overview = await page.evaluate(
    `fetch('/console-api/overview').then((answer) => answer.json())`,
  );
  const [session] = overview.sessions;
  expect(session).toMatchObject({ model: 'svc-asr-kikuyu-v1', status: 'completed' });
  expect(session?.billable_ms).toBe(Math.ceil((session?.audio_ms ?? 0) / 1_000) * 1_000);
  await page.getByText(`${(session?.billable_ms ?? 0) / 1_000} s charged.`).waitFor();
  const age = page.locator('dl > div', { hasText: 'Delay' }).locator('dd');
  expect(await age.innerText()).toMatch(/^\d\.\d \/ \d\.\d s$/);
  expect(complaints).toEqual([]);
});

test('converts and transcribes a file in the page; a second run is a second session', async () => {
  const { page, complaints } = await openPage(browser);
  await service.admit('filer@example.com');
  await signInAs(page, { service, email: 'filer@example.com', path: '/app/playground' });
  await page.getByText('Dholuo').first().click();
  for (const name of ['dholuo-1', 'dholuo-1']) {
    await page.locator('input[type=file]').setInputFiles(join(FIXTURES, `${name}.wav`));
    await page.getByText('charged.').waitFor({ state: 'detached' });
    await page.getByText('charged.').waitFor();
    expectWords(await transcriptOf(page), wordsOf(name));
  }
  await page.getByRole('link', { name: 'Overview' }).first().click();
  await page.getByText('rounded up once to 3 s').first().waitFor();
  expect(complaints).toEqual([]);
});

test('each turn is its own line, and uncertain words are marked visually, on hover and for screen readers', async () => {
  const { page, complaints } = await openPage(browser);
  await service.admit('turns@example.com');
  await signInAs(page, { service, email: 'turns@example.com', path: '/app/playground' });
  await page.getByText('Dholuo').first().click();
  const file = await wavWithPauses(['dholuo-1', 'dholuo-3']);
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByText('charged.').waitFor();

  const lines = page.getByTestId('transcript').locator('p');
  expect(await lines.count()).toBe(2);
  const [first = '', second = ''] = await lines.allInnerTexts();
  expectWords(first.trim(), wordsOf('dholuo-1'));
  // The demo model may join two of its words.
  const letters = second.replaceAll('(uncertain)', '').replaceAll(/\s+/g, '');
  expect(letters).toBe(wordsOf('dholuo-3').join(''));
  // The fixture with the lowest confidence.
  const marked = lines.nth(1).locator('.uncertain');
  const [word = ''] = await marked.allInnerTexts();
  expect(word).not.toBe('');
  expect(await marked.first().getAttribute('title')).toMatch(/^Confidence \d+ %$/);
  expect(await lines.nth(1).textContent()).toContain(`${word} (uncertain)`);
  await page.getByText('words may be wrong').waitFor();
  await seen(page, 'playground-turns');
  expect(complaints).toEqual([]);
});

async function openPlayground(
  email: string,
  options: Parameters<typeof openPage>[1] = {},
): Promise<WatchedPage & { accountId: string }> {
  const watched = await openPage(browser, { permissions: ['microphone'], ...options });
  const accountId = await service.admit(email);
  await signInAs(watched.page, { service, email });
  // From another page of the console, so that the browser's Back button leads there.
  await watched.page.getByRole('link', { name: 'Playground', exact: true }).click();
  await watched.page.getByRole('button', { name: 'Start speaking' }).waitFor();
  return { ...watched, accountId };
}

async function setCredit(accountId: string, ms: number): Promise<void> {
  const taken = { ms: ms - 3_600_000, reason: 'test', actor: 'test', id: crypto.randomUUID() };
  await createLedger(service.database.pool).adjust({ accountId, ...taken });
}

async function downloaded(page: Page, format: string): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page
      .getByRole('button', { name: `Download ${format}` })
      .first()
      .click(),
  ]);
  return readFileSync(await file.path(), 'utf8');
}

test('the limit ends a run without an error; it continues where it was, and every format has all of it', async () => {
  const { page, complaints } = await openPlayground('limit@example.com', { permissions: [] });
  await page.getByText('Options', { exact: true }).click();
  await page.getByLabel('Limit').selectOption('30');
  // The second sentence starts after 30 s.
  const file = await wavWithPauses([SENTENCE, SENTENCE], 28);
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByRole('heading', { name: 'Limit reached' }).waitFor();
  await page.getByText('30 s of audio, 30 s charged. 59 min 30 s of credit left.').waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(await page.getByTestId('clock').innerText()).toContain('0:30 / 0:30');
  await seen(page, 'playground-limit');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page
    .getByText(/^35\.[89]\d* s of audio, 36 s charged\. 59 min 24 s of credit left\.$/)
    .waitFor();
  expect(await page.getByTestId('transcript').locator('p').count()).toBe(2);

  const text = await downloaded(page, 'TXT');
  expect(text.trim().split('\n').length).toBe(2);
  const words = JSON.parse(await downloaded(page, 'JSON')).turns[1].words;
  expect(words[0].start_ms).toBeGreaterThan(30_000);
  expect(await downloaded(page, 'SRT')).toMatch(/^1\n00:00:0[01],\d{3} --> /);
  expect(await downloaded(page, 'VTT')).toMatch(/^WEBVTT\n/);
  // Another language for the next run leaves this transcript in its own.
  await page.getByText('Dholuo').first().click();
  expect(await page.getByTestId('transcript').getAttribute('lang')).toBe('ki');
  await page.reload();
  await page.getByText('Your last runs').waitFor();
  await page.locator('summary').filter({ hasText: 'Kikuyu' }).first().click();
  await seen(page, 'playground-history');
  expect(complaints).toEqual([]);
});

test('little credit is announced before, during and after a run, whose clock turns yellow', async () => {
  const { page, accountId, complaints } = await openPlayground('poor@example.com');
  await setCredit(accountId, 4_000);
  await page.reload();
  await page.getByText('4 s of credit left. A run ends when it is used up.').waitFor();
  await page.getByRole('button', { name: 'Start speaking' }).click();
  await page.getByText('This run ends after 4 s').waitFor();
  const clock = page.getByTestId('clock');
  await expect.poll(() => clock.getAttribute('data-last'), { interval: 50 }).toBe('true');
  expect(await clock.innerText()).toMatch(/0:0[34] \/ 0:04/);
  await page.getByRole('heading', { name: 'Credit used up' }).waitFor();
  await page.getByText('4 s charged. 0 s of credit left.').waitFor();
  expect(await page.getByRole('button', { name: 'Start speaking' }).isDisabled()).toBe(true);
  expect(await page.getByRole('alert').count()).toBe(0);
  await seen(page, 'playground-no-credit');
  expect(complaints).toEqual([]);
});

test('after a lost connection the page asks the ledger what was charged', async () => {
  const { page, context } = await openPlayground('dropped@example.com');
  await context.grantPermissions(['microphone', 'clipboard-read', 'clipboard-write']);
  const drops: (() => void)[] = [];
  await page.routeWebSocket(/\/v1\/asr\/stream/, (socket) => {
    const server = socket.connectToServer();
    drops.push(() => {
      void server.close();
      void socket.close({ code: 4000 });
    });
  });
  await page.reload();
  await page.getByRole('button', { name: 'Start speaking' }).click();
  await expect.poll(() => transcriptOf(page), { interval: 50 }).toContain(wordsOf(SENTENCE)[0]);
  for (const drop of drops) drop();
  await page.getByText('The connection was lost').waitFor();
  await page.getByText(/ charged\. .* of credit left\./).waitFor();
  const overview: Overview = await page.evaluate(
    `fetch('/console-api/overview').then((answer) => answer.json())`,
  );
  const [session] = overview.sessions;
  expect(session?.completed_at).not.toBeNull();
  const charged = await page.locator('dl > div', { hasText: 'Charged' }).locator('dd').innerText();
  expect(charged).toBe(`${(session?.billable_ms ?? 0) / 1_000}\u00a0s`);
  // Words that are not final can still be copied.
  const receipt = page.getByRole('region', { name: 'The run ended early' });
  await receipt.getByRole('button', { name: 'Copy' }).click();
  await receipt.getByText('Copied').waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  const shown = (await transcriptOf(page)).replaceAll(' (uncertain)', '');
  expect(copied.replaceAll('\n', ' ')).toBe(shown);
  await receipt.getByRole('button', { name: 'Copy' }).waitFor();
  await seen(page, 'playground-lost');
});

test('on a phone Stop, level and clock stay above the tab bar while words scroll, and leaving asks first', async () => {
  const { page, complaints } = await openPlayground('phone@example.com', DEVICES.phone);
  await page.getByRole('button', { name: 'Start speaking' }).click();
  await expect
    .poll(() => transcriptOf(page), { interval: 50 })
    .toContain(wordsOf(SENTENCE).slice(0, 2).join(' '));
  const bars = await page.evaluate<{ top: number; bottom: number; tabs: number; words: number }>(`
    (() => {
      const box = (name) => document.querySelector(name).getBoundingClientRect();
      const controls = box('[data-testid=controls]');
      return {
        top: controls.top,
        bottom: controls.bottom,
        tabs: box('nav').top,
        words: box('[data-testid=transcript]').bottom,
      };
    })()
  `);
  expect(bars.bottom).toBeLessThanOrEqual(bars.tabs);
  expect(bars.words).toBeLessThanOrEqual(bars.top);
  await takePicture(page, 'playground-recording-phone-light', 'window');
  await page.emulateMedia({ colorScheme: 'dark' });
  await takePicture(page, 'playground-recording-phone-dark', 'window');
  expect(await violations(page)).toEqual([]);

  await page.getByRole('link', { name: 'Overview' }).click();
  const question = page.getByRole('dialog', { name: 'Stop recording?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await page.goBack();
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(page.url()).toBe(`${service.url}/app/playground`);
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await question.getByRole('button', { name: 'Stop and leave' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(complaints).toEqual([]);
});

test('a long transcript follows its last line, until its reader scrolls up', async () => {
  const { page } = await openPlayground('long@example.com', { ...DEVICES.phone, permissions: [] });
  const file = await wavWithPauses(Array.from({ length: 8 }, () => SENTENCE));
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByText('charged.').waitFor();
  const inBox = <T>(code: string): Promise<T> =>
    page.evaluate<T>(`((box) => ${code})(document.querySelector('[data-testid=transcript]'))`);
  const left = (): Promise<number> => inBox('box.scrollHeight - box.scrollTop - box.clientHeight');
  expect(await inBox('box.scrollHeight > box.clientHeight')).toBe(true);
  expect(await left()).toBeLessThan(5);
  // A browser may report our own scrolling when more lines have come.
  await inBox("box.firstElementChild.style.paddingBottom = '200px'");
  await inBox("box.dispatchEvent(new Event('scroll'))");
  const details = page.getByLabel('Show confidence and why each line ended');
  await details.click();
  expect(await left()).toBeLessThan(5);
  await inBox(
    "new Promise((done) => (box.addEventListener('scroll', done, { once: true }), (box.scrollTop = 0)))",
  );
  await details.click();
  expect(await inBox('box.scrollTop')).toBe(0);
});

test('the server code shown on the page runs unchanged and creates a session', async () => {
  const { page, context } = await openPage(browser);
  await service.admit('coder@example.com');
  await signInAs(page, { service, email: 'coder@example.com' });
  const { secret } = await createKeyIn(page);
  await page.goto(`${service.url}/app/playground`);
  await page.getByRole('tab', { name: 'Code' }).click();
  const code = await page.getByRole('region', { name: 'Use it in your code' }).innerText();
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', `${code}\nconsole.log(session.model, session.status);`],
    {
      cwd: join(import.meta.dirname, '../../../../web/console'),
      // The test's certificate is self-signed.
      env: { ...process.env, SVC_API_KEY: secret, NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    },
  );
  expect(stdout.trim()).toBe('svc-asr-kikuyu-v1 reserved');
  await context.close();
});

async function createKeyIn(page: Page): Promise<NewKey> {
  const body = { name: 'server', models: ['svc-asr-kikuyu-v1'], expires_in_days: null };
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const request = JSON.stringify({ ...init, body: JSON.stringify(body) });
  return page.evaluate(`fetch('/console-api/keys', ${request}).then((answer) => answer.json())`);
}

async function answer(fixture: string): Promise<{ text: string; endMs: number }[]> {
  const { model, pcm } = speech(fixture);
  const stream = await engine.open({ model, signal: AbortSignal.timeout(30_000) });
  await stream.write(pcm.slice());
  stream.flush();
  const events = await read(stream).until('final');
  await stream.close();
  const final = events.find((event) => event.type === 'final');
  return (final?.words ?? []).map(({ text, endMs }) => ({ text, endMs }));
}

test('the public page plays recordings whose transcripts match the results of the service', async () => {
  const { page, context, complaints } = await openPage(browser);
  await page.goto(service.url);
  for (const [tab, language, fixture] of [
    ['Kikuyu', 'ki', 'kikuyu-1'],
    ['Dholuo', 'luo', 'dholuo-1'],
  ] as const) {
    await page.getByText(tab, { exact: true }).first().click();
    const quote = page.locator(`blockquote[lang=${language}]`);
    const shown = await quote.locator('[data-end]').all();
    const words = shown.map(async (word) => ({
      text: await word.innerText(),
      endMs: Number(await word.getAttribute('data-end')),
    }));
    const written = await Promise.all(words);
    expect(written, '`npm run examples` writes them').toEqual(await answer(fixture));
    const player = page.locator('figure', { has: quote });
    await player.getByRole('button').click();
    // Words appear one by one, and all are visible at the end.
    await expect.poll(() => player.locator('.opacity-0').count()).toBeGreaterThan(0);
    await expect.poll(() => player.locator('.opacity-0').count()).toBe(0);
  }
  expect(complaints).toEqual([]);
  await context.close();
});
