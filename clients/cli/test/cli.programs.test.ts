import { chmod, copyFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStream } from '@svc-asr/sdk/stream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { callSvc, envOf, runSvc, type Result } from './svc.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FIXTURE = join(ROOT, 'core/models/fixtures/kikuyu-1.wav');

let emulator: Emulator;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-cli-'));
  emulator = await startEmulatorOn(await createTestDatabase(), { texts: ['nĩ wega mũno'] });
});
afterAll(async () => {
  await emulator.stop();
  await rm(folder, { recursive: true });
});
afterEach(() => emulator.faults.clear());

/** Runs a command as a user does with `own`, otherwise in this process. */
function svc(
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; input?: Buffer; own?: 'process' } = {},
): Promise<Result> {
  const env = { ...envOf(emulator), ...options.env };
  return (options.own === 'process' ? runSvc : callSvc)(args, { env, input: options.input });
}

describe('transcribe', () => {
  test('prints the text to standard output and a summary to standard error', async () => {
    const own = { own: 'process' } as const;
    const { code, out, err } = await svc(['transcribe', FIXTURE, '-l', 'ki'], own);
    expect([code, out]).toEqual([0, 'nĩ wega mũno\n']);
    expect(err).toMatch(/✓ kikuyu-1\.wav .*3 words .* s charged/);
  });

  test('prints results in the order of the command line', async () => {
    const files = ['first.wav', 'second.wav', 'third.wav'].map((name) => join(folder, name));
    for (const file of [files[0], files[2]]) if (file !== undefined) await copyFile(FIXTURE, file);
    const { code, out, err } = await svc(['transcribe', ...files, '-l', 'ki']);
    expect(code).toBe(1);
    expect(out).toBe(`── ${files[0]}\nnĩ wega mũno\n── ${files[2]}\nnĩ wega mũno\n`);
    expect(err).toMatch(/✓ first[\s\S]*✗ second[\s\S]*✓ third/);
  });

  test('transcribes many files on an account for one session, each to its own file', async () => {
    const files = ['a.wav', 'b.wav', 'c.wav', 'd.wav', 'e.wav'].map((name) => join(folder, name));
    for (const file of files) await copyFile(FIXTURE, file);
    const out = join(folder, 'out');
    const result = await svc(['transcribe', ...files, '-l', 'ki', '-f', 'srt', '-o', out]);
    expect(result.code).toBe(0);
    expect(await readFile(join(out, 'c.srt'), 'utf8')).toMatch(
      /^1\n00:00:00,000 --> .*\nnĩ wega mũno\n/,
    );
  });

  test('survives a failed session and lists it in the JSON', async () => {
    emulator.faults.arm({ name: 'engine-crash', ms: 1_000, times: 1 });
    const { code, out } = await svc(['transcribe', FIXTURE, '--language', 'Kikuyu', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      file: FIXTURE,
      text: 'nĩ wega mũno',
      status: 'done',
      sessions: [{ charged_ms: 0 }, { charged_ms: expect.any(Number) }],
    });
  });

  test('names files without audio and transcribes the others', async () => {
    const broken = join(folder, 'broken.mp3');
    await writeFile(broken, 'this is text');
    const { code, out, err } = await svc([
      'transcribe',
      broken,
      FIXTURE,
      'missing.wav',
      '-l',
      'ki',
    ]);
    expect(code).toBe(1);
    expect(out).toContain('nĩ wega mũno');
    expect(err).toMatch(/✗ broken\.mp3 {2}No audio found in this file \([^/]+\)\.$/m);
    expect(err).toMatch(/✗ missing\.wav {2}File not found\./);
  });
});

test('writes the text that was paid for when the credit runs out, and says how far it goes', async () => {
  const poor = await startEmulatorOn(await createTestDatabase(), {
    texts: ['nĩ wega mũno'],
    creditMs: 2_000,
  });
  const env = { SVC_BASE_URL: poor.url, SVC_API_KEY: poor.apiKey };
  const { code, out, err } = await svc(['transcribe', FIXTURE, '-l', 'ki'], { env });
  await poor.stop();
  expect([code, out]).toEqual([4, 'nĩ wega mũno\n']);
  expect(err).toMatch(/✗ kikuyu-1\.wav .*credit.* Transcribed up to 0:02\./);
});

test('reserves no session for a file without audio', async () => {
  const recent = async (): Promise<unknown> => JSON.parse((await svc(['usage', '--json'])).out);
  const before = await recent();
  const silent = join(folder, 'silent.mp3');
  await writeFile(silent, 'this is text');
  expect((await svc(['transcribe', silent, '-l', 'ki'])).code).toBe(1);
  expect(await recent()).toEqual(before);
});

test('listen reads PCM from a pipe', async () => {
  const pcm = (await readFile(FIXTURE)).subarray(44);
  const pipe = { input: pcm, own: 'process' } as const;
  const { code, out, err } = await svc(['listen', '-l', 'ki', '--stdin'], pipe);
  expect([code, out]).toEqual([0, 'nĩ wega mũno\n']);
  expect(err).toMatch(/s charged/);
});

test('listen writes subtitles, one cue per turn, as they are spoken', async () => {
  const pcm = (await readFile(FIXTURE)).subarray(44);
  const pipe = { input: pcm, own: 'process' } as const;
  const cue = /00:00:00,\d{3} --> 00:00:0\d,\d{3}\nnĩ wega mũno\n\n$/;
  const { code, out } = await svc(['listen', '-l', 'ki', '--stdin', '-f', 'srt'], pipe);
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`^1\\n${cue.source}`));
  const vtt = await svc(['listen', '-l', 'ki', '--stdin', '-f', 'vtt'], pipe);
  expect(vtt.out).toMatch(new RegExp(`^WEBVTT\\n\\n${cue.source.replaceAll(',', '\\.')}`));
  const both = await svc(['listen', '-l', 'ki', '--stdin', '-f', 'srt', '--json']);
  expect(both.code).toBe(2);
});

test('models, usage and session print JSON', async () => {
  const models = JSON.parse((await svc(['models', '--json'], { env: { SVC_API_KEY: '' } })).out);
  expect(models).toHaveLength(2);
  expect(JSON.parse((await svc(['usage', '--json'])).out)).toMatchObject({
    object: 'credit_balance',
  });
  const session = JSON.parse((await svc(['session', '-l', 'luo', '-s', '1'])).out);
  expect(session).toMatchObject({ model: 'svc-asr-dholuo-v1', audio: { max_audio_seconds: 1 } });
  // An unused reservation would block the account for a minute.
  const stream = openStream({ session });
  await stream.flush();
  await stream.close();
});

describe('errors have their own exit status and say what to do', () => {
  test.each([
    ['unknown command', ['sing'], {}, 2, /Unknown command 'sing'/],
    ['no language', ['transcribe', FIXTURE], {}, 2, /--language ki/],
    [
      'unknown option',
      ['usage', '--api-key=svc_live_v1_secret'],
      {},
      2,
      /Unknown option '--api-key'/,
    ],
    ['no key', ['usage'], { SVC_API_KEY: '' }, 3, /svc login/],
    ['wrong key', ['usage'], { SVC_API_KEY: 'svc_live_v1_wrong' }, 3, /not valid/],
    ['incomplete address', ['usage'], { SVC_BASE_URL: '127.0.0.1:8080' }, 3, /starts with https:/],
    ['excess argument', ['login', 'svc_live_v1_secret'], {}, 2, /Too many arguments/],
    ['no service', ['models'], { SVC_BASE_URL: 'http://127.0.0.1:9' }, 5, /svc doctor/],
  ] as const)('%s', async (_, args, env, code, message) => {
    const result = await svc(args, { env });
    expect(result.code).toBe(code);
    expect(result.err).toMatch(message);
    expect(result.err).not.toMatch(/ {4}at |svc_live_v1_secret/);
  });

  test('the status is that of the process', async () => {
    const env = { SVC_API_KEY: 'svc_live_v1_wrong' };
    const { code, err } = await svc(['usage'], { env, own: 'process' });
    expect([code, err]).toEqual([3, expect.stringMatching(/^svc: .*not valid/)]);
  });

  test('no credit', async () => {
    emulator.faults.arm({ name: 'no-credit', ms: 0, times: 1 });
    const { code, err } = await svc(['transcribe', FIXTURE, '-l', 'ki']);
    expect(code).toBe(4);
    expect(err).toMatch(/credit.*svc usage.*\(request [0-9a-f-]{36}\)/);
  });
});

describe('settings', () => {
  test('login tests the key, stores it readable only by its owner, and other commands use it', async () => {
    const path = join(folder, 'login.json');
    const env = { SVC_CONFIG: path, SVC_BASE_URL: '', SVC_API_KEY: '' };
    const input = Buffer.from(`${emulator.url}\n${emulator.apiKey}\n`);
    const login = await svc(['login'], { env, input, own: 'process' });
    expect(login.code).toBe(0);
    expect(login.out + login.err).not.toContain(emulator.apiKey);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await svc(['usage'], { env })).code).toBe(0);
  });

  test('refuses a settings file that others can read', async () => {
    const path = join(folder, 'open.json');
    await writeFile(path, JSON.stringify({ baseUrl: emulator.url, apiKey: emulator.apiKey }));
    await chmod(path, 0o644);
    const env = { SVC_CONFIG: path, SVC_BASE_URL: '', SVC_API_KEY: '' };
    const { code, err } = await svc(['usage'], { env });
    expect(code).toBe(2);
    expect(err).toContain(`chmod 600 ${path}`);
  });
});

test('doctor finds no problem in a healthy setup, and the first one otherwise', async () => {
  const well = await svc(['doctor', '--json']);
  expect([well.code, JSON.parse(well.out)]).toEqual([
    0,
    expect.arrayContaining([expect.objectContaining({ check: 'stream', ok: true })]),
  ]);
  const ill = await svc(['doctor'], { env: { SVC_API_KEY: 'svc_live_v1_wrong' } });
  expect(ill.code).toBe(1);
  expect(ill.out).toMatch(/✗ key .*\n {2}Copy the whole key again/);
  const lost = await svc(['doctor'], { env: { SVC_BASE_URL: 'asr.example.org' } });
  expect(lost.out).toMatch(
    /✗ address .*asr\.example\.org\n {2}Invalid base URL\. It starts with https:/,
  );
});

test('every command has help with examples that fits 80 columns, and a row in the README', async () => {
  const { out } = await svc(['--help']);
  const readme = await readFile(join(ROOT, 'clients/cli/README.md'), 'utf8');
  const names = ['transcribe', 'listen', 'models', 'usage', 'session', 'login', 'doctor'];
  for (const name of names) {
    expect(out).toContain(`  ${name} `);
    const help = await svc([name, '--help']);
    expect(readme).toContain(`| \`svc ${name}`);
    expect(help.out).toMatch(/^Usage: svc .*[\s\S]*Examples:/);
    expect((out + help.out).split('\n').filter((line) => line.length > 80)).toEqual([]);
  }
});
