import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startSherpaEngine, type SherpaEngine } from '@svc-asr/engine';
import { read } from '@svc-asr/testing/speech/event-reader.ts';
import { MODELS_DIR, speech } from '@svc-asr/testing/speech/fixtures.ts';
import type { NewKey, Overview } from '@svc-asr/protocol/console.ts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../support/console-axe.ts';
import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { openPage, signInAs, startConsoleSite } from '../support/console-chromium.ts';
import { takePicturesOfEveryLook } from '../support/console-pictures.ts';
import type { ConsoleService } from '../support/console-service.ts';

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
async function wavWithPauses(fixtures: readonly string[]): Promise<string> {
  const wavs = fixtures.map((name) => readFileSync(join(FIXTURES, `${name}.wav`)));
  const pause = Buffer.alloc(32_000);
  const header = Buffer.from(wavs[0]?.subarray(0, 44) ?? []);
  const audio = Buffer.concat([pause, ...wavs.flatMap((wav) => [wav.subarray(44), pause])]);
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

/** Checks this screen here, because only real speech produces it. */
async function seen(page: Page, name: string): Promise<void> {
  expect(await violations(page)).toEqual([]);
  await takePicturesOfEveryLook(page, name);
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
  await signInAs(page, { service, email: 'speaker@example.com' });
  await page.getByRole('link', { name: 'Playground' }).first().click();
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
  await page.getByText('Done:').waitFor();
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
  await page.getByText(`${(session?.billable_ms ?? 0) / 1_000} s of credit`).waitFor();
  expect(complaints).toEqual([]);
});

test('converts and transcribes a file in the page; a second run is a second session', async () => {
  const { page, complaints } = await openPage(browser);
  await service.admit('filer@example.com');
  await signInAs(page, { service, email: 'filer@example.com' });
  await page.goto(`${service.url}/app/playground`);
  await page.getByText('Dholuo').first().click();
  for (const name of ['dholuo-1', 'dholuo-1']) {
    await page.locator('input[type=file]').setInputFiles(join(FIXTURES, `${name}.wav`));
    await page.getByText('Done:').waitFor({ state: 'detached' });
    await page.getByText('Done:').waitFor();
    expectWords(await transcriptOf(page), wordsOf(name));
  }
  await page.getByRole('link', { name: 'Overview' }).first().click();
  await page.getByText('rounded up once to 3 s').first().waitFor();
  expect(complaints).toEqual([]);
});

test('each turn is its own line, and uncertain words are marked visually, on hover and for screen readers', async () => {
  const { page, complaints } = await openPage(browser);
  await service.admit('turns@example.com');
  await signInAs(page, { service, email: 'turns@example.com' });
  await page.goto(`${service.url}/app/playground`);
  await page.getByText('Dholuo').first().click();
  const file = await wavWithPauses(['dholuo-1', 'dholuo-3']);
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByText('Done:').waitFor();

  const lines = page.getByTestId('transcript').locator('p');
  expect(await lines.count()).toBe(2);
  const [first = '', second = ''] = await lines.allInnerTexts();
  expectWords(first.trim(), wordsOf('dholuo-1'));
  expectWords(second.replaceAll('(uncertain)', '').replaceAll(/\s+/g, ' '), wordsOf('dholuo-3'));
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

test('the server code shown on the page runs unchanged and creates a session', async () => {
  const { page, context } = await openPage(browser);
  await service.admit('coder@example.com');
  await signInAs(page, { service, email: 'coder@example.com' });
  const { secret } = await createKeyIn(page);
  await page.goto(`${service.url}/app/playground`);
  const code = await page.getByRole('region', { name: 'Use it in your code' }).innerText();
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', `${code}\nconsole.log(session.model, session.status);`],
    {
      cwd: join(import.meta.dirname, '../../../console'),
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
  for (const [language, fixture] of [
    ['ki', 'kikuyu-1'],
    ['luo', 'dholuo-1'],
  ] as const) {
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
