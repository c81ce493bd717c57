import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { listen } from '@svc-asr/runtime/listen.ts';
import { isSignedWebhook } from '../src/index.ts';
import { twilioCall } from './calls.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');
const TEXT = 'nĩ wega mũno';
const TOKEN = '0123456789abcdef';
const SECRET = 'fedcba9876543210';

let emulator: Emulator;
let folder: string;
let program: ChildProcess | null = null;
let receiver: Server | null = null;
beforeAll(async () => {
  emulator = await startEmulator({ texts: [TEXT], shortestMs: 1_000 });
  folder = await mkdtemp(join(tmpdir(), 'telephony-'));
});
afterAll(async () => {
  await emulator.stop();
  await rm(folder, { recursive: true });
});
afterEach(() => {
  program?.kill('SIGKILL');
  receiver?.close();
});

interface Output {
  stdout: string;
  stderr: string;
}

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Output {
  const settings = { SVC_BASE_URL: emulator.url, SVC_API_KEY: emulator.apiKey };
  const child = spawn(process.execPath, [MAIN, '--port', '0', ...args], {
    env: { ...process.env, ...settings, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  program = child;
  const output: Output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  return output;
}

async function exitCode(): Promise<number | null> {
  if (program === null) throw new Error('Nothing runs.');
  if (program.exitCode !== null) return program.exitCode;
  await once(program, 'close');
  return program.exitCode;
}

async function urlIn(output: Output): Promise<string> {
  await expect.poll(() => output.stderr).toMatch(/^ws:\S+$/m);
  return /^ws:\S+$/m.exec(output.stderr)?.[0] ?? '';
}

test.each([
  ['an open port on all addresses', ['--host', '0.0.0.0'], {}, 'Set SVC_TELEPHONY_TOKEN'],
  [
    'AudioSocket on all addresses',
    ['--audiosocket-port', '0', '--audiosocket-host', '0.0.0.0'],
    {},
    '--audiosocket-allow',
  ],
  [
    'a wrong key',
    [],
    { SVC_API_KEY: `svc_live_v1_${'A'.repeat(50)}` },
    'Check SVC_API_KEY and SVC_BASE_URL.',
  ],
  ['a webhook without a secret', ['--webhook', 'https://x.example'], {}, 'WEBHOOK_SECRET'],
])('does not start with %s, and says what to do', async (_, args, env, message) => {
  const output = run(args, { ...env });
  expect(await exitCode()).toBe(2);
  expect(output.stderr).toContain(message);
});

test('warns at the start if the service is unreachable', async () => {
  const output = run([], { SVC_BASE_URL: 'http://127.0.0.1:9' });
  await urlIn(output);
  expect(output.stderr).toContain('warning service_unreachable');
});

async function startReceiver() {
  const bodies: string[] = [];
  receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const signature = String(request.headers['svc-signature']);
      const isSigned = isSignedWebhook({ secret: SECRET, signature, body });
      if (isSigned) bodies.push(body);
      response.writeHead(isSigned ? 200 : 401).end();
    });
  });
  const port = await listen(receiver);
  return { url: `http://127.0.0.1:${port}`, bodies };
}

test('a webhook and a file get the transcript; the standard streams get none of it', async () => {
  const { url: webhook, bodies } = await startReceiver();
  const file = join(folder, 'events.ndjson');
  const output = run(['--webhook', webhook, '--output', file], {
    SVC_TELEPHONY_TOKEN: TOKEN,
    SVC_TELEPHONY_WEBHOOK_SECRET: SECRET,
  });
  const url = await urlIn(output);
  await twilioCall(`${url}/twilio/${TOKEN}`, ['inbound']);
  await expect.poll(() => bodies.at(-1) ?? '').toContain('"call_ended"');
  program?.kill('SIGTERM');
  expect(await exitCode()).toBe(0);
  const posted = bodies.map((body) => JSON.parse(body));
  expect(posted.map(({ type }) => type)).toEqual([
    'started',
    'dtmf',
    'final',
    'ended',
    'call_ended',
  ]);
  expect(posted.at(-1)).toMatchObject({ turns: [{ leg: 'inbound', text: TEXT }] });
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).type)).toContain('call_ended');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(output.stdout).toBe('');
  expect(output.stderr).not.toContain(TEXT.split(' ')[0]);
});

test('SIGTERM waits for the call, and its last words still arrive; a second one exits', async () => {
  const output = run(['--drain-seconds', '60']);
  const url = await urlIn(output);
  const socket = new WebSocket(`${url}/jambonz`);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'start', sampleRateHz: 16_000 }));
  await expect.poll(() => output.stdout).toContain('"started"');
  program?.kill('SIGTERM');
  const ready = `${url.replace('ws:', 'http:')}/readyz`;
  await expect.poll(async () => (await fetch(ready)).status).toBe(503);
  const speech = Int16Array.from({ length: 32_000 }, (_, at) => 8_000 * Math.sin(at / 11));
  socket.send(Buffer.from(speech.buffer));
  socket.send(JSON.stringify({ type: 'stop' }));
  expect(await exitCode()).toBe(0);
  expect(output.stdout).toContain(TEXT);
  expect(output.stdout.trimEnd().split('\n').at(-1)).toContain('"call_ended"');

  const other = run(['--drain-seconds', '60']);
  const waiting = new WebSocket(`${await urlIn(other)}/jambonz`);
  await once(waiting, 'open');
  waiting.send(JSON.stringify({ type: 'start', sampleRateHz: 8_000 }));
  await expect.poll(() => other.stdout).toContain('"started"');
  waiting.on('error', () => undefined);
  program?.kill('SIGTERM');
  await expect
    .poll(async () => (await fetch(ready.replace(/:\d+/, `:${portOf(other)}`))).status)
    .toBe(503);
  program?.kill('SIGTERM');
  expect(await exitCode()).toBe(1);
});

test('ends its calls when the shell that npm started it with is gone', async () => {
  const settings = {
    SVC_BASE_URL: emulator.url,
    SVC_API_KEY: emulator.apiKey,
    npm_command: 'exec',
  };
  // As npm does: a shell that doesn't become the program and passes no signal on.
  const line = `'${process.execPath}' '${MAIN}' --port 0; true`;
  const shell = spawn('/bin/sh', ['-c', line], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  program = shell;
  const output: Output = { stdout: '', stderr: '' };
  shell.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  shell.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const url = await urlIn(output);
  const socket = new WebSocket(`${url}/jambonz`);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'start', sampleRateHz: 16_000 }));
  await expect.poll(() => output.stdout).toContain('"started"');
  shell.kill('SIGTERM');
  const ready = `${url.replace('ws:', 'http:')}/readyz`;
  await expect.poll(async () => (await fetch(ready)).status).toBe(503);
  socket.send(JSON.stringify({ type: 'stop' }));
  await expect.poll(() => output.stdout).toContain('"call_ended"');
  await once(shell, 'close');
});

function portOf(output: Output): string {
  return /^ws:\S+:(\d+)$/m.exec(output.stderr)?.[1] ?? '';
}
