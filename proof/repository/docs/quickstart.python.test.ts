import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSherpaEngine, type Engine } from '../../../core/engine/src/index.ts';
import { STREAM_PATH } from '@svc-asr/protocol';
import { freePort } from '../../../core/local/src/free-port.ts';
import { startService, type Service } from '../../testing/src/service/service.ts';
import { MODELS_DIR, speech } from '../../testing/src/speech/fixtures.ts';
import { blocksOf, ROOT, type Block } from './blocks.ts';

const PAGE = 'docs/start/quickstart.md';
const PYTHON = join(ROOT, '.cache/python/bin');
const run = promisify(execFile);

/** The steps of the page, run in order in one folder against the service with the bundled models. */
let svc: Service;
let engine: Engine;
let folder: string;
beforeAll(async () => {
  const port = String(await freePort());
  engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
  svc = await startService({
    env: {
      PORT: port,
      PUBLIC_STREAM_URL: `ws://127.0.0.1:${port}${STREAM_PATH}`,
      ALLOW_INSECURE_WS: '1',
    },
    parts: { engine },
  });
  folder = await mkdtemp(join(tmpdir(), 'quickstart-'));
  await mkdir(join(folder, 'node_modules/@svc-asr'), { recursive: true });
  await symlink(join(ROOT, 'clients/sdk'), join(folder, 'node_modules/@svc-asr/sdk'));
  // The page downloads it from the service, which serves it once the console is built.
  await copyFile(
    join(ROOT, 'web/console/public/examples/kikuyu-1.mp3'),
    join(folder, 'kikuyu-1.mp3'),
  );
  const convert = shell().find(({ code }) => code.includes('ffmpeg'))?.code ?? '';
  await bash(convert.replace(/^curl .*$/m, ''));
});
afterAll(async () => {
  await svc.stop();
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});

function shell(): Block[] {
  return blocksOf(PAGE).filter(({ language }) => language === 'sh');
}

/** Runs a command as a new account, which has its one session to itself. */
async function asNewAccount(file: string, args: readonly string[]): Promise<string> {
  const { apiKey } = await svc.addTenant({ creditMs: 60_000 });
  const { stdout } = await run(file, [...args], {
    cwd: folder,
    env: {
      PATH: [PYTHON, join(ROOT, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
      PYTHONPATH: join(ROOT, 'clients/sdk-python/src'),
      HOME: folder,
      SVC_BASE_URL: svc.url,
      SVC_API_KEY: apiKey,
    },
  });
  return stdout;
}

async function bash(script: string): Promise<string> {
  return asNewAccount('bash', ['-euo', 'pipefail', '-c', script]);
}

test('the requests with curl return the balance and a session', async () => {
  const requests = shell().filter(({ code }) => code.includes('"Authorization'));
  const answers = [];
  for (const { code } of requests) answers.push(JSON.parse(await bash(code)));
  expect(answers).toMatchObject([
    { object: 'credit_balance', available_ms: 60_000 },
    { object: 'asr.session', model: 'svc-asr-kikuyu-v1', audio: { max_audio_seconds: 60 } },
  ]);
});

test('the programs in TypeScript and Python print the transcript', async () => {
  const programs = blocksOf(PAGE).filter(({ language }) => ['ts', 'python'].includes(language));
  expect(programs).toHaveLength(4);
  for (const { where, language, code } of programs) {
    const [name, interpreter] = language === 'ts' ? ['a.mjs', 'node'] : ['a.py', 'python'];
    await writeFile(join(folder, name), code);
    const lines = (await asNewAccount(interpreter, [name])).trimEnd().split('\n');
    expect(lines.at(-1), where).toBe(speech('kikuyu-1').expected);
  }
});

test('svc transcribes the recording', async () => {
  const [line] = shell().flatMap(({ code }) => /^svc transcribe .*$/m.exec(code) ?? []);
  expect((await bash(line ?? '')).trim()).toBe(speech('kikuyu-1').expected);
});
