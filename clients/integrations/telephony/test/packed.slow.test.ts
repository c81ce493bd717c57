import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { projectWith, type PackedProject } from '../../../../proof/testing/src/packed-project.ts';
import { asteriskCall } from './calls.ts';

let emulator: Emulator;
let project: PackedProject;
beforeAll(async () => {
  emulator = await startEmulator({ texts: ['nĩ wega'] });
  project = await projectWith('telephony', ['commander', 'ws']);
});
afterAll(async () => {
  await project.remove();
  await emulator.stop();
});

test('the packed svc-telephony transcribes a call and stops on SIGTERM', async () => {
  const program = join(project.folder, 'node_modules/@svc-asr/telephony/main.js');
  const env = { ...process.env, SVC_BASE_URL: emulator.url, SVC_API_KEY: emulator.apiKey };
  const help = await promisify(execFile)(process.execPath, [program, '--help']);
  expect(help.stdout).toContain('svc-telephony');
  const args = [program, '--port', '0', '--audiosocket-port', '0'];
  const bridge = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    const [line] = await once(createInterface({ input: bridge.stderr }), 'line');
    const port = Number(/port (\d+)$/.exec(String(line))?.[1]);
    const told = createInterface({ input: bridge.stdout });
    const events: unknown[] = [];
    told.on('line', (text) => events.push(JSON.parse(text)));
    await asteriskCall(port);
    await expect
      .poll(() => events.length > 0 && events.at(-1))
      .toMatchObject({ type: 'call_ended' });
    expect(events).toContainEqual(expect.objectContaining({ type: 'final', text: 'nĩ wega' }));
    const exited = once(bridge, 'exit');
    bridge.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  } finally {
    bridge.kill('SIGKILL');
  }
});

test('the packed svc-telephony ends its call when its shell under npm is gone', async () => {
  const program = join(project.folder, 'node_modules/@svc-asr/telephony/main.js');
  const bin = join(project.folder, 'node_modules/.bin');
  await chmod(program, 0o755);
  await mkdir(bin, { recursive: true });
  await symlink(program, join(bin, 'svc-telephony'));
  const npx = spawn('npx', ['--no', '--', 'svc-telephony', '--port', '0'], {
    cwd: project.folder,
    env: { ...process.env, SVC_BASE_URL: emulator.url, SVC_API_KEY: emulator.apiKey },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines = { out: '', err: '' };
  npx.stdout.setEncoding('utf8').on('data', (text: string) => (lines.out += text));
  npx.stderr.setEncoding('utf8').on('data', (text: string) => (lines.err += text));
  await expect.poll(() => lines.err).toMatch(/^ws:\S+$/m);
  const url = /^ws:\S+$/m.exec(lines.err)?.[0] ?? '';
  const call = new WebSocket(`${url}/jambonz`);
  await once(call, 'open');
  call.send(JSON.stringify({ type: 'start', sampleRateHz: 16_000 }));
  await expect.poll(() => lines.out).toContain('"started"');
  // It doesn't wait for its program, whose output ends with it.
  const ended = once(npx, 'close');
  npx.kill('SIGTERM');
  const ready = `${url.replace('ws:', 'http:')}/readyz`;
  await expect.poll(async () => (await fetch(ready)).status).toBe(503);
  call.send(JSON.stringify({ type: 'stop' }));
  await ended;
  expect(lines.out).toContain('"call_ended"');
});

test('the packed package runs the example of its README', async () => {
  const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8');
  const examples = [...readme.matchAll(/```ts\n([^]*?)```/g)].map(([, code = '']) => code);
  const example = examples.find((code) => code.includes('startBridge')) ?? '';
  // Any free port, which the script prints.
  const script = example
    .replace('port: 9092', 'port: 0')
    .replace('await startBridge', 'const bridge = await startBridge');
  await writeFile(
    join(project.folder, 'bridge.mjs'),
    `${script}\nconsole.log(bridge.audioSocketPort);`,
  );
  const env = { ...process.env, SVC_BASE_URL: emulator.url, SVC_API_KEY: emulator.apiKey };
  const bridge = spawn(process.execPath, ['bridge.mjs'], {
    cwd: project.folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const told = createInterface({ input: bridge.stdout });
    const [port] = await once(told, 'line');
    const final = once(told, 'line');
    await asteriskCall(Number(port));
    expect(await final).toEqual(['caller nĩ wega']);
  } finally {
    bridge.kill('SIGKILL');
  }
});
