import { execFile, spawn } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { projectWithPackage, type Project } from '@svc-asr/testing/installed-package.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { codeBlocks } from './code-blocks.ts';
import { RECORDING } from '../browser/page-server.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const run = promisify(execFile);
const TEXT = 'nĩ wega mũno';

/** A project as the guides describe it, with the packed SDK. */
let project: Project;
let emulator: Emulator;
beforeAll(async () => {
  [project, emulator] = await Promise.all([
    projectWithPackage('@svc-asr/sdk', [join(ROOT, 'clients/sdk/node_modules')]),
    startEmulator({ texts: [TEXT] }),
  ]);
});
afterAll(async () => {
  await Promise.all([project.remove(), emulator.stop()]);
});

test('the program of the quickstart prints the transcript', async () => {
  const blocks = await codeBlocks('docs/start/on-your-machine.md');
  const program = blocks.find(({ language }) => language === 'ts');
  await writeFile(join(project.folder, 'my-program.mjs'), program?.code ?? '');
  await copyFile(RECORDING, join(project.folder, 'kikuyu-1.wav'));
  const { stdout } = await run(process.execPath, ['my-program.mjs'], {
    cwd: project.folder,
    env: { SVC_BASE_URL: emulator.url, SVC_API_KEY: emulator.apiKey },
  });
  expect(stdout).toBe('nĩ wega mũno\n');
});

test('the server for voice notes answers an OGG file, and the page for slow networks, with the text', async () => {
  const [block] = await codeBlocks('docs/guides/voice-notes.md');
  const port = String(await freePort());
  const program = (block?.code ?? '').replace('listen(3003)', `listen(${port})`);
  await writeFile(join(project.folder, 'notes.mjs'), program);
  const ogg = join(project.folder, 'note.ogg');
  await run('ffmpeg', ['-v', 'error', '-i', RECORDING, '-c:a', 'libopus', '-b:a', '16k', ogg]);
  const server = spawn(process.execPath, ['notes.mjs'], {
    cwd: project.folder,
    env: { PATH: process.env['PATH'], SVC_BASE_URL: emulator.url, SVC_API_KEY: emulator.apiKey },
    stdio: 'inherit',
  });
  try {
    const address = `http://localhost:${port}/notes`;
    await eventually(() =>
      fetch(address).then(
        ({ status }) => status === 404,
        () => false,
      ),
    );
    const answer = await fetch(address, { method: 'POST', body: await readFile(ogg) });
    expect(await answer.json()).toEqual({ text: TEXT });
    await recordNote(`http://localhost:${port}`);
  } finally {
    server.kill();
  }
});

async function recordNote(address: string): Promise<void> {
  const blocks = await codeBlocks('docs/guides/low-bandwidth.md');
  const code = (language: string) => blocks.find((block) => block.language === language)?.code;
  await writeFile(join(project.folder, 'note.html'), code('html') ?? '');
  await writeFile(join(project.folder, 'note.ts'), code('ts') ?? '');
  const bundle = /^npx -y esbuild\S* (.*)$/m.exec(code('sh') ?? '')?.[1] ?? '';
  await run(join(ROOT, 'clients/sdk/node_modules/.bin/esbuild'), bundle.split(' '), {
    cwd: project.folder,
  });
  const browser = await launchChromium({ microphone: RECORDING, repeat: true });
  try {
    const page = await browser.newPage();
    await page.goto(address);
    await page.getByRole('button').click();
    // A second of recording.
    await page.waitForFunction(() => performance.now() > 2_000);
    await page.getByRole('button').click();
    await page.locator('output', { hasText: TEXT }).waitFor();
  } finally {
    await browser.close();
  }
}

test('the React guide shows the files of the example', async () => {
  const blocks = await codeBlocks('docs/guides/react.md');
  for (const [language, file] of [
    ['ts', 'use-transcript.ts'],
    ['tsx', 'app.tsx'],
  ] as const) {
    const shown = blocks.find((block) => block.language === language)?.code;
    expect(shown).toBe(await readFile(join(ROOT, 'clients/examples/react', file), 'utf8'));
  }
});

test('the programs for live captions print a cue per turn', async () => {
  const [block] = await codeBlocks('docs/guides/captions.md');
  await writeFile(join(project.folder, 'captions.mjs'), block?.code ?? '');
  emulator.play([
    { text: 'nĩ wega', silenceMs: 500, speechMs: 1_000 },
    { text: 'ũhoro waku', silenceMs: 1_500, speechMs: 1_200 },
  ]);
  const programs = [
    [join(project.folder, 'captions.mjs')],
    [join(ROOT, 'clients/examples/node-file/captions.ts'), 'svc-asr-kikuyu-v1'],
  ];
  for (const args of programs) {
    const running = run(process.execPath, args, {
      env: { SVC_BASE_URL: emulator.url, SVC_API_KEY: emulator.apiKey },
    });
    running.child.stdin?.end(Buffer.alloc(6_000 * 32));
    expect((await running).stdout).toBe(
      'WEBVTT\n\n00:00:00.500 --> 00:00:01.500\nnĩ wega\n\n00:00:03.000 --> 00:00:04.200\nũhoro waku\n\n',
    );
  }
  emulator.say([TEXT]);
});

test('the quickstart leaves the clone before it creates a project', async () => {
  const shell = (await codeBlocks('docs/start/on-your-machine.md'))
    .filter(({ language }) => language === 'sh')
    .map(({ code }) => code);
  const project = shell.find((code) => code.includes('mkdir my-program')) ?? '';
  expect(project).toMatch(/^cd \.\.\nmkdir my-program/);
});

test('the server and the page of the browser guide show lines, and clear the interim line', async () => {
  const blocks = await codeBlocks('docs/guides/browser.md');
  const code = (language: string) => blocks.filter((block) => block.language === language);
  const files = {
    'server.mjs': code('ts')[0],
    'page.ts': code('ts').at(-1),
    'public/index.html': code('html')[0],
  };
  await mkdir(join(project.folder, 'public'), { recursive: true });
  for (const [name, block] of Object.entries(files)) {
    await writeFile(join(project.folder, name), block?.code ?? '');
  }
  const bundle = /^npx -y esbuild\S* (.*)$/m.exec(code('sh')[0]?.code ?? '')?.[1] ?? '';
  await run(join(ROOT, 'clients/sdk/node_modules/.bin/esbuild'), bundle.split(' '), {
    cwd: project.folder,
  });
  const port = String(await freePort());
  const server = spawn(process.execPath, ['server.mjs'], {
    cwd: project.folder,
    env: { PORT: port, SVC_BASE_URL: emulator.url, SVC_API_KEY: emulator.apiKey },
    stdio: 'inherit',
  });
  const browser = await launchChromium({ microphone: RECORDING, repeat: true });
  try {
    const page = await browser.newPage();
    await eventually(() =>
      page.goto(`http://localhost:${port}`).then(
        () => true,
        () => false,
      ),
    );
    await page.getByRole('button', { name: 'Start' }).click();
    await page.locator('#interim', { hasText: 'nĩ wega' }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('#lines li', { hasText: 'nĩ wega mũno' }).first().waitFor();
    expect(await page.locator('#interim').textContent()).toBe('');
    expect(await page.getByRole('alert').textContent()).toBe('');
  } finally {
    server.kill();
    await browser.close();
  }
});

test('the first commands of the README transcribe before any session is reserved by hand', async () => {
  const shell = (await codeBlocks('README.md')).filter(({ language }) => language === 'sh');
  const transcribes = shell.findIndex(({ code }) => code.includes('transcribe'));
  const reserves = shell.findIndex(({ code }) => code.includes('/v1/asr/sessions'));
  expect(transcribes).toBeGreaterThanOrEqual(0);
  expect(reserves).toBeGreaterThan(transcribes);
});
