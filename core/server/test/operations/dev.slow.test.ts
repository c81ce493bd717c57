import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import type { AsrSession } from '@svc-asr/protocol';
import { listen } from '@svc-asr/runtime/listen.ts';
import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { createTestDatabase, type TestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureCertificate } from '../../scripts/dev-certificate.ts';
import type { CertificateFiles } from '../../src/platform/network/tls.ts';

/** The first calls that `npm run dev` prints, run as printed. */
const ROOT = resolve(import.meta.dirname, '../../../..');
const START_MS = 90_000;

let folder: string;
let database: TestDatabase;
let dev: ChildProcess;
let url: string;
let printed = '';
/** The certificate of an authority that the developer's shell trusted before, such as a company's proxy. */
let company: CertificateFiles;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-dev-'));
  database = await createTestDatabase();
  company = await ensureCertificate(join(folder, 'company'));
  const port = String(await freePort());
  url = `https://localhost:${port}`;
  dev = spawn(process.execPath, [join(ROOT, 'core/server/scripts/dev.ts'), '--compatible'], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'],
      PORT: port,
      COMPATIBLE_PORT: '0',
      DATABASE_URL: database.url,
      SVC_DEV_DIR: folder,
      NODE_EXTRA_CA_CERTS: company.certFile,
      ENGINE_CHILDREN: '1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  dev.stdout?.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await eventually(() => printed.includes('Ctrl-C') || dev.exitCode !== null, START_MS);
}, START_MS);

afterAll(async () => {
  const exited = once(dev, 'exit');
  dev.kill('SIGTERM');
  await exited;
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

async function shell(command: string): Promise<string> {
  const env = { PATH: `${ROOT}/node_modules/.bin:${process.env['PATH']}`, HOME: folder };
  const { stdout } = await promisify(execFile)('bash', ['-ec', command], { cwd: ROOT, env });
  return stdout;
}

test('S11 the printed curl command creates a session, and a browser can open its wss:// address', async () => {
  const command = /^ *(curl .*\n(?: +-.*\n)+)/m.exec(printed)?.[1] ?? '';
  const session: AsrSession = JSON.parse(await shell(command));
  expect(session.websocket_url).toBe(`${url.replace('https', 'wss')}/v1/asr/stream`);
  const browser = await launchChromium();
  try {
    // Accepts the certificate, as a person would in the browser.
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    expect((await page.goto(`${url}/app`))?.status()).toBe(200);
    const first = await page.evaluate(
      ([address, protocols]) =>
        new Promise<string>((done, failed) => {
          const socket = new WebSocket(address, [...protocols]);
          socket.addEventListener('message', ({ data }) => {
            const event = JSON.parse(String(data));
            if (event.type !== 'ready') return;
            socket.addEventListener('close', () => done(event.type));
            socket.close(1000);
          });
          socket.addEventListener('error', () => failed(new Error('The WebSocket failed.')));
        }),
      [session.websocket_url, session.websocket_protocols] as const,
    );
    expect(first).toBe('ready');
  } finally {
    await browser.close();
  }
});

test('the printed commands transcribe a file, and svc doctor finds no problem', async () => {
  const command = /^ *(\. .*\n *npx @svc-asr\/cli transcribe .*\n)/m.exec(printed)?.[1] ?? '';
  expect(await shell(command)).toMatch(/^\p{L}+( \p{L}+)+\n$/u);
  expect(await shell(`. ${folder}/env; npx @svc-asr/cli doctor`)).toContain(url);
});

test('with --compatible a form with a file is transcribed at the printed address', async () => {
  const address = /(http:\/\/\S+)\/v1 {2}OpenAI/.exec(printed)?.[1] ?? '';
  const form =
    '-F model=svc-asr-kikuyu-v1 -F response_format=text -F file=@core/models/fixtures/kikuyu-1.wav';
  const text = await shell(
    `. ${folder}/env; curl -sf ${address}/v1/audio/transcriptions -H "Authorization: Bearer $SVC_API_KEY" ${form}`,
  );
  expect(text).toMatch(/^\p{L}+( \p{L}+)+\n$/u);
});

test('the env file keeps the authorities that the shell trusted', async () => {
  const [cert, key] = await Promise.all([readFile(company.certFile), readFile(company.keyFile)]);
  const proxy = createServer({ cert, key }, (_, response) => response.end('reached'));
  const port = await listen(proxy, 0, 'localhost');
  const program = `console.log(await (await fetch('https://localhost:${port}')).text())`;
  try {
    const command = `. ${folder}/env; node --input-type=module -e "${program}"`;
    expect(await shell(command)).toBe('reached\n');
  } finally {
    proxy.close();
  }
});

test('a page names the address where its browser accepts the certificate, and then starts without a wait', async () => {
  expect(printed).toContain(`open ${url} once and accept the certificate`);
  const settings = await shell(`. ${folder}/env; env | grep -E '^(SVC|NODE_EXTRA)'`);
  const example = spawn(process.execPath, [join(ROOT, 'clients/examples/browser/server.ts')], {
    env: { PATH: process.env['PATH'], PORT: '0', ...parseEnv(settings) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const browser = await launchChromium({
    microphone: join(ROOT, 'core/models/fixtures/kikuyu-1.wav'),
    repeat: true,
    whole: true,
  });
  try {
    const [line] = await once(example.stdout.setEncoding('utf8'), 'data');
    const context = await browser.newContext();
    const page = await context.newPage();
    const told: string[] = [];
    page.on('console', (message) => told.push(message.text()));
    await page.goto(String(line).trim());
    await page.getByRole('button', { name: 'Start' }).click();
    // At first while the stream retries, then for good.
    await page.locator('#state', { hasText: 'No connection' }).waitFor();
    await page.locator('#problem', { hasText: 'No connection' }).waitFor({ timeout: 60_000 });
    expect(told.join('\n')).toContain(`Open ${url} in this browser`);
    await acceptCertificate(await context.newPage());
    await page.reload();
    const began = performance.now();
    await page.getByRole('button', { name: 'Start' }).click();
    await page.locator('#state', { hasText: 'Listening' }).waitFor();
    const startedMs = performance.now() - began;
    console.log(`listening ${Math.round(startedMs)} ms after the click`);
    // The session that could not be opened blocks nothing. It would have lived for a minute.
    expect(startedMs).toBeLessThan(10_000);
    await page.locator('#now', { hasText: /\p{L}/u }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.waitForFunction('document.title.includes("charged")');
  } finally {
    example.kill();
    await browser.close();
  }
});

/** Clicks through the browser's warning, as a person does. */
async function acceptCertificate(page: Page): Promise<void> {
  await page.goto(url).catch(() => null);
  await page.locator('#details-button').click();
  await page.locator('#proceed-link').click();
  await page.waitForURL(`${url}/**`);
  await page.getByRole('heading').first().waitFor();
}

test('curl trusts the certificate by the env file', async () => {
  const request = 'curl -sS "$SVC_BASE_URL/v1/usage" -H "Authorization: Bearer $SVC_API_KEY"';
  expect(JSON.parse(await shell(`. '${folder}/env'; ${request}`))).toMatchObject({
    object: 'credit_balance',
  });
});

test.each([
  ['SSL_CERT_FILE of the env file', '', ''],
  ['its ca argument', 'unset SSL_CERT_FILE;', 'sys.argv[1]'],
])('the Python SDK trusts the certificate by %s', async (_, change, ca) => {
  const script = [
    'import asyncio, sys, svc_asr',
    'async def main():',
    `    async with svc_asr.SvcClient(ca=${ca || 'None'}) as client:`,
    "        text = await svc_asr.transcribe('core/models/fixtures/kikuyu-1.wav', model='svc-asr-kikuyu-v1', client=client)",
    '        print(text.text)',
    'asyncio.run(main())',
  ].join('\n');
  const python = `PYTHONPATH=clients/sdk-python/src .cache/python/bin/python -B -c "${script}"`;
  const command = `. '${folder}/env'; ${change} ${python} '${folder}/tls/cert.pem'`;
  expect(await shell(command)).toContain('wĩ mwega');
});
