import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { freePort } from '@svc-asr/local/free-port.ts';
import { listen } from '@svc-asr/runtime/listen.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { codeBlocks } from './code-blocks.ts';

/** Recipes of the guides that a new user copies, as the pages show them. */
const ROOT = join(import.meta.dirname, '../../../..');
const MODULES = {
  '@svc-asr/emulator': 'clients/emulator',
  '@svc-asr/sdk': 'clients/sdk',
  vite: 'web/console/node_modules/vite',
  vitest: 'node_modules/vitest',
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recipes-'));
  await mkdir(join(folder, 'node_modules/@svc-asr'), { recursive: true });
  for (const [name, path] of Object.entries(MODULES)) {
    await symlink(join(ROOT, path), join(folder, 'node_modules', name));
  }
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Writes the block of a page that holds this text. */
async function save(page: string, holding: string, name: string): Promise<void> {
  const block = (await codeBlocks(page)).find(({ code }) => code.includes(holding));
  expect(block, `${page}: ${holding}`).toBeDefined();
  await writeFile(join(folder, name), block?.code ?? '');
}

test('Vitest starts the emulator for all test files', async () => {
  const page = 'docs/guides/testing-with-the-emulator.md';
  await save(page, 'export default async function setup', 'emulator-setup.ts');
  await save(page, '// vitest.config.ts', 'vitest.config.ts');
  await save(page, '// session.test.ts', 'session.test.ts');
  const { PATH, HOME } = process.env;
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, 'run'], {
    cwd: folder,
    env: { PATH, HOME },
  });
  expect(stripVTControlCharacters(stdout)).toMatch(/Tests +1 passed/);
});

test('Vite passes requests for sessions on to the server of the page', async () => {
  const server = createServer((request, response) => response.end(request.url));
  const target = `http://localhost:${await listen(server)}`;
  const blocks = await codeBlocks('docs/guides/browser.md');
  const config = blocks.find(({ code }) => code.includes('// vite.config.ts'))?.code ?? '';
  expect(config).toContain('http://localhost:3000');
  const own = config.replace('http://localhost:3000', target.replace('localhost', '127.0.0.1'));
  await writeFile(join(folder, 'vite.config.ts'), own);
  const port = await freePort();
  const bin = join(ROOT, 'web/console/node_modules/vite/bin/vite.js');
  const args = [bin, '--host', '127.0.0.1', '--port', String(port)];
  const vite = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore' });
  try {
    let text = '';
    await eventually(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/session`).catch(() => null);
      text = (await response?.text()) ?? '';
      return response !== null;
    }, 20_000);
    expect(text).toBe('/session');
  } finally {
    vite.kill();
    await once(vite, 'exit');
    server.close();
  }
});

test('a server answers the question of a page with another origin', async () => {
  await save('docs/guides/browser.md', 'export function allowPage', 'allow-page.ts');
  const { allowPage } = await import(join(folder, 'allow-page.ts'));
  const server = createServer((request, response) => {
    if (!allowPage(request, response)) response.end('session');
  });
  const url = `http://127.0.0.1:${await listen(server)}/session`;
  try {
    const question = await fetch(url, { method: 'OPTIONS' });
    expect(question.status).toBe(204);
    expect(question.headers.get('access-control-allow-headers')).toContain('idempotency-key');
    const answer = await fetch(url, { method: 'POST' });
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    expect(await answer.text()).toBe('session');
  } finally {
    server.close();
  }
});
