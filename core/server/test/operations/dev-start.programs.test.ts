import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { childrenOf } from '@svc-asr/local/child-process.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { listen } from '@svc-asr/runtime/listen.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';

/** `npm run dev` as a person starts and stops it, with its own PostgreSQL. */
const ROOT = resolve(import.meta.dirname, '../../../..');
const SVC = join(ROOT, 'clients/cli/src/main.ts');
const run = promisify(execFile);
const START_MS = 90_000;
const STOP_MS = 5_000;

let folder: string;
let npm: ChildProcess | null = null;
let printed = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-dev-start-'));
  printed = '';
});
afterEach(async () => {
  if (npm?.pid !== undefined && isAlive(npm.pid)) process.kill(-npm.pid, 'SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** Starts it in a process group of its own, as a shell does. */
function start(port: string | number, args: readonly string[] = []): ChildProcess {
  const { PATH, HOME } = process.env;
  npm = spawn('npm', ['run', '-s', 'dev', '--', ...args], {
    cwd: ROOT,
    env: { PATH, HOME, PORT: String(port), SVC_DEV_DIR: folder, ENGINE_CHILDREN: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  for (const output of [npm.stdout, npm.stderr]) {
    output?.setEncoding('utf8').on('data', (text: string) => (printed += text));
  }
  return npm;
}

async function started(port: number): Promise<ChildProcess> {
  const child = start(port);
  await eventually(() => printed.includes('Ctrl-C') || child.exitCode !== null, START_MS);
  expect(printed).toContain('Ctrl-C');
  return child;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function descendants(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendants(child)]);
}

/** Names of the processes that are left. A zombie has ended. */
async function left(pids: readonly number[]): Promise<string[]> {
  const states = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z')),
  );
  return states.filter((stat) => !/\) Z/.test(stat)).map((stat) => stat.split(' ')[1] ?? '');
}

async function environment(): Promise<NodeJS.ProcessEnv> {
  const settings = parseEnv(
    (await readFile(join(folder, 'env'), 'utf8')).replaceAll(/^export /gm, ''),
  );
  return { PATH: process.env['PATH'], SVC_CONFIG: '/none.json', ...settings };
}

/** A program that streams speech. Resolves when it has text. */
async function speak(env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const args = [SVC, 'listen', '-l', 'ki', '--stdin', '--json'];
  const listener = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  listener.stdin.write(Buffer.concat([speech('kikuyu-1').pcm, speech('kikuyu-2').pcm]));
  await once(listener.stdout, 'data');
  return listener;
}

test.each(['Ctrl-C', 'kill'] as const)(
  '%s stops everything in five seconds, with five sessions and an open stream',
  async (how) => {
    const { pid = 0 } = await started(await freePort());
    expect(printed).toContain(`${folder} keeps the data`);
    expect(printed).toContain(`starting PostgreSQL in ${folder}/postgres`);
    expect(printed).not.toContain('.sql');
    const all = [pid, ...descendants(pid)];
    // npm, the service, its recogniser, the shell of PostgreSQL and PostgreSQL itself.
    expect(all.length).toBeGreaterThanOrEqual(5);
    const env = await environment();
    const listener = await speak(env);
    onTestFinished(() => void listener.kill('SIGKILL'));
    const session = [SVC, 'session', '-l', 'ki', '-s', '1'];
    const four = Array.from({ length: 4 }, () => run(process.execPath, session, { env }));
    await Promise.all(four);
    const began = performance.now();
    if (how === 'Ctrl-C') process.kill(-pid, 'SIGINT');
    else process.kill(pid, 'SIGTERM');
    await eventually(async () => (await left(all)).length === 0, 2 * STOP_MS);
    expect(performance.now() - began).toBeLessThan(STOP_MS);
  },
  2 * START_MS,
);

test('a port that is taken is named before anything is started', async () => {
  const other = createServer();
  const port = await listen(other);
  try {
    const child = start(port);
    await once(child, 'exit');
    expect(child.exitCode).toBe(1);
    expect(printed).toContain(
      `Another program uses port ${port}. Stop it, or choose another port: PORT=${port + 1} npm run dev`,
    );
    expect(existsSync(join(folder, 'postgres'))).toBe(false);
  } finally {
    other.close();
  }
});

test('--help names the port and the folder', async () => {
  await once(start(0, ['--help']), 'exit');
  expect(printed).toMatch(/^ +PORT /m);
  expect(printed).toMatch(/^ +SVC_DEV_DIR /m);
});
