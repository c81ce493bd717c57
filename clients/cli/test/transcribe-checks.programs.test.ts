import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '@svc-asr/runtime/listen.ts';
import { SvcClient } from '@svc-asr/sdk';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callSvc, envOf, runSvc, type Result } from './svc.ts';
import { toneWav } from '@svc-asr/testing/speech/wav.ts';

const TEXT = 'nĩ wega mũno';

let emulator: Emulator;
let folder: string;
let short: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-checks-'));
  short = join(folder, 'short.wav');
  await writeFile(short, toneWav(700));
  emulator = await startEmulatorOn(await createTestDatabase(), { texts: [TEXT], creditMs: 60_000 });
});
afterAll(async () => {
  await emulator.stop();
  await rm(folder, { recursive: true });
});

function svc(
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; input?: Buffer; cwd?: string; on?: Emulator } = {},
): Promise<Result> {
  const env = { ...envOf(options.on ?? emulator), SVC_LANGUAGE: 'ki', ...options.env };
  const { cwd, input } = options;
  const needsProcess = cwd !== undefined || options.env !== undefined;
  return needsProcess ? runSvc(args, { env, input, cwd }) : callSvc(args, { env, input });
}

async function consumedMs(): Promise<number> {
  const client = new SvcClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  return (await client.usage.get()).consumed_ms;
}

describe('refuses before anything is charged', () => {
  test('an output folder that is a file, or below one', async () => {
    const before = await consumedMs();
    const taken = join(folder, 'taken');
    await writeFile(taken, 'mine');
    for (const out of [taken, join(taken, 'deeper')]) {
      const { code, err } = await svc(['transcribe', short, '-o', out]);
      expect(code).toBe(2);
      expect(err).toMatch(/Can't write to .*taken.* is a file\)\. Choose another -o folder\./);
    }
    await mkdir(join(folder, 'out/short.txt'), { recursive: true });
    const { code, err } = await svc(['transcribe', short, '-o', join(folder, 'out'), '--force']);
    expect([code, err]).toEqual([2, expect.stringContaining('short.txt is a folder')]);
    expect(await readFile(taken, 'utf8')).toBe('mine');
    expect(await consumedMs()).toBe(before);
  });

  test.each([
    [['-f', 'srt', '--json'], /--json prints JSON, not srt/],
    [['-f', 'txt,srt'], /Several formats need -o/],
    [['-f', 'txt,doc'], /Use text, json, srt, vtt/],
  ])('contradicting options %j', async (options, message) => {
    const { code, err } = await svc(['transcribe', short, ...options]);
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
  });
});

test('writes several formats for one charge, and keeps those that exist', async () => {
  const out = join(folder, 'formats');
  await mkdir(out);
  await writeFile(join(out, 'short.txt'), 'my corrections\n');
  const before = await consumedMs();
  const result = await svc(['transcribe', short, '-f', 'txt,srt,json', '-o', out, '--json']);
  expect(result.code).toBe(0);
  expect(JSON.parse(result.out)).toMatchObject({
    outputs: ['short.txt', 'short.srt', 'short.json'].map((name) => join(out, name)),
  });
  expect((await consumedMs()) - before).toBe(1_000);
  expect((await readdir(out)).toSorted()).toEqual(['short.json', 'short.srt', 'short.txt']);
  expect(await readFile(join(out, 'short.txt'), 'utf8')).toBe('my corrections\n');
});

test('announces short credit first, and counts files that never started apart', async () => {
  const poor = await startEmulatorOn(await createTestDatabase(), {
    texts: [TEXT],
    creditMs: 2_000,
  });
  const [first, second, third] = ['1.wav', '2.wav', '3.wav'].map((name) => join(folder, name));
  await Promise.all([first, second, third].map((path) => writeFile(path ?? '', toneWav(3_000))));
  const files = [first ?? '', second ?? '', third ?? ''];
  const dry = await svc(['transcribe', ...files, '--dry-run'], { on: poor });
  const { code, err } = await svc(['transcribe', ...files, '--jobs', '1'], { on: poor });
  const left = await svc(['usage', '--json'], { on: poor });
  await poor.stop();
  expect(dry).toMatchObject({ code: 4, err: expect.stringContaining('about 9 s') });
  expect(code).toBe(4);
  const notice = err.indexOf('0:09 of audio to transcribe, but only 0:02 of credit left');
  expect(notice).toBeGreaterThanOrEqual(0);
  expect(notice).toBeLessThan(err.indexOf('✗ 1.wav'));
  expect(err).toContain(`Longer than the credit: ${files[0]} (0:03)`);
  expect(err).toMatch(/Total: 0 done, 1 failed, 2 not started · /);
  expect(JSON.parse(left.out)).toMatchObject({ consumed_ms: 2_000 });
});

test('--dry-run prints the cost and charges nothing', async () => {
  const before = await consumedMs();
  const long = join(folder, 'long.wav');
  await writeFile(long, toneWav(90_500));
  const { code, out, err } = await svc(['transcribe', short, long, '--dry-run', '--json']);
  const lines = out.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { status: 'estimated', audio_ms: 700, cost_ms: 1_000 },
    { status: 'estimated', audio_ms: 90_500, cost_ms: 91_000 },
  ]);
  expect(err).toMatch(/Estimate: about 92 s for 1:31 of audio · .* credit left/);
  // A minute of credit is not enough.
  expect(code).toBe(4);
  expect(await consumedMs()).toBe(before);
});

test('transcribes standard input', async () => {
  const { code, out } = await svc(['transcribe', '-', '--json'], { input: toneWav(900) });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ file: '-', text: TEXT, audio_ms: 900 });
});

describe('file names', () => {
  test('control characters of a name never reach the terminal', async () => {
    const name = 'a\u001B]0;title\u0007\u001B[2J\u009B31m\u202Egpj.wav';
    const [fine, broken] = [join(folder, name), join(folder, `b${name}`)];
    await writeFile(fine, toneWav(700));
    await writeFile(broken, 'this is text');
    const missing = join(folder, `c${name}`);
    for (const flags of [[], ['--json'], ['--dry-run'], ['-o', fine]]) {
      const { out, err } = await svc(['transcribe', fine, broken, missing, ...flags]);
      expect((out + err).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202E]/u);
    }
  });

  test('a folder named like an address is read from the disk', async () => {
    const paths: string[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      response.end();
    });
    const port = await listen(server);
    const cwd = join(folder, 'cwd');
    await mkdir(join(cwd, `http:/127.0.0.1:${port}`), { recursive: true });
    await writeFile(join(cwd, `http:/127.0.0.1:${port}/a.wav`), toneWav(700));
    const { code, out } = await svc(['transcribe', `http://127.0.0.1:${port}/a.wav`], { cwd });
    server.close();
    expect(paths).toEqual([]);
    expect([code, out]).toEqual([0, `${TEXT}\n`]);
  });
});

test('doctor records from the microphone, and names a missing one without failing', async () => {
  const bin = join(folder, 'bin');
  await mkdir(bin);
  const path = `${bin}:${process.env['PATH']}`;
  const recorder = async (script: string): Promise<unknown> => {
    await writeFile(join(bin, 'arecord'), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, 'arecord'), 0o755);
    const { code, out } = await svc(['doctor', '--json'], { env: { PATH: path } });
    expect(code).toBe(0);
    return JSON.parse(out).find(({ check }: { check: string }) => check === 'microphone');
  };
  expect(await recorder(`exec cat ${short}`)).toMatchObject({ ok: true });
  expect(await recorder('echo "no soundcards found" >&2; exit 1')).toMatchObject({
    ok: false,
    optional: true,
    found: expect.stringContaining('no soundcards found'),
  });
  expect(await recorder('exec head -c 20000 /dev/zero')).toMatchObject({ ok: false });
  expect(await recorder('exec sleep 60')).toMatchObject({ ok: false });
});
