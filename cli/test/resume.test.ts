import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SvcClient, type CreditBalance } from '@svc-asr/sdk';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { envOf, runSvc, type Result } from './svc.ts';
import { toneWav, wavOf } from '@svc-asr/testing/speech/wav.ts';

const TEXT = 'nĩ wega mũno';
const PAUSE = new Uint8Array(1_500 * 32);
const TURNS = 50;
/** Speech with pauses, so that finals come by endpointing as well as by Ctrl-C. */
const SPOKEN = Buffer.concat(
  Array.from({ length: TURNS }, () => [speech('kikuyu-2').pcm, PAUSE]).flat(),
);
const AUDIO_MS = Math.ceil(SPOKEN.byteLength / 32);

let emulator: Emulator;
let folder: string;
let file: string;
let out: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-resume-'));
  [file, out] = [join(folder, 'talk.wav'), join(folder, 'out')];
  await writeFile(file, wavOf(SPOKEN));
  emulator = await startEmulator({ texts: [TEXT] });
});
afterEach(async () => {
  await emulator.stop();
  await rm(folder, { recursive: true });
});

function transcribe(
  args: readonly string[],
  onStart?: Parameters<typeof runSvc>[1]['onStart'],
): Promise<Result> {
  const command = ['transcribe', '-l', 'ki', '-f', 'txt,json', '-o', out, ...args];
  return runSvc(command, { env: envOf(emulator), onStart });
}

function usage(): Promise<CreditBalance> {
  return new SvcClient({ baseUrl: emulator.url, apiKey: emulator.apiKey }).usage.get();
}

/** Runs until the recogniser has taken that much audio, and `isSaved`, then sends a signal. */
async function stopAfter(
  ms: number,
  signal: 'SIGINT' | 'SIGKILL',
  isSaved = (): boolean => true,
): Promise<Result> {
  const before = emulator.faults.met.length;
  emulator.faults.arm({ name: 'engine-pause', ms, times: 1 });
  return transcribe([file], (child) => {
    const timer = setInterval(() => {
      if (emulator.faults.met.length === before || !isSaved()) return;
      clearInterval(timer);
      child.kill(signal);
    }, 20);
    // The program says at once that it stops, while the recogniser still takes nothing.
    child.stderr?.on(
      'data',
      (text: string) => text.includes('Stopping') && emulator.faults.clear(),
    );
    child.on('exit', () => {
      clearInterval(timer);
      emulator.faults.clear();
    });
  });
}

/** The finals that were saved, empty ones too. */
async function savedFinals(): Promise<{ start_ms: number; end_ms: number }[]> {
  const text = await readFile(join(out, 'talk.resume.ndjson'), 'utf8');
  const lines = text.split('\n').slice(0, -1);
  return lines.flatMap((line) => JSON.parse(line).final ?? []);
}

async function savedMs(): Promise<number> {
  return (await savedFinals()).at(-1)?.end_ms ?? 0;
}

test('Ctrl-C at ten moments: each run continues, no file shrinks, and no audio is charged twice', async () => {
  let [endMs, partial] = [0, ''];
  for (const ms of [1, 400, 1_000, 2_300, 3_700, 4_000, 5_100, 6_600, 9_000, 12_000]) {
    const { code, err } = await stopAfter(ms, 'SIGINT');
    expect(code).toBe(130);
    expect(err).toMatch(/✗ talk\.wav {2}Interrupted\. Transcribed up to .* to continue there\./);
    const reached = await savedMs();
    expect(reached).toBeGreaterThan(endMs);
    endMs = reached;
    const written = await readFile(join(out, 'talk.txt.partial'), 'utf8');
    expect(written.startsWith(partial.trimEnd())).toBe(true);
    partial = written;
    expect((await usage()).consumed_ms).toBeLessThanOrEqual(endMs + 10 * 1_000);
  }
  const finals = await savedFinals();
  for (const [at, final] of finals.entries()) {
    const previous = finals[at - 1]?.end_ms ?? 0;
    expect(Math.abs(final.start_ms - previous)).toBeLessThanOrEqual(1);
  }
  const last = await transcribe([file]);
  expect([last.code, last.err]).toEqual([0, expect.stringContaining('continued from')]);
  expect((await readdir(out)).toSorted()).toEqual(['talk.json', 'talk.txt']);

  const result = JSON.parse(await readFile(join(out, 'talk.json'), 'utf8'));
  const { consumed_ms, recent_sessions } = await usage();
  expect(recent_sessions.every(({ status }) => status === 'completed')).toBe(true);
  // Whole seconds, once per session.
  expect(consumed_ms).toBeLessThan(AUDIO_MS + result.sessions.length * 1_000);
  expect(result).toMatchObject({ status: 'done', audio_ms: AUDIO_MS, charged_ms: consumed_ms });
  expect(result.finals.at(-1).end_ms).toBe(AUDIO_MS);
  expect(await readFile(join(out, 'talk.txt'), 'utf8')).toMatch(
    new RegExp(`^${partial.trimEnd()}`),
  );
});

test('a run that was killed continues after its last final', async () => {
  const path = join(out, 'talk.resume.ndjson');
  await stopAfter(
    20_000,
    'SIGKILL',
    () => existsSync(path) && readFileSync(path, 'utf8').includes('"final"'),
  );
  const endMs = await savedMs();
  expect(endMs).toBeGreaterThan(0);
  // A crash can cut the last line.
  await writeFile(path, `${await readFile(path, 'utf8')}{"final":{"te`);
  await expect.poll(async () => (await usage()).reserved_ms).toBe(0);
  const dry = await transcribe([file, '--dry-run', '--json']);
  expect(JSON.parse(dry.out)).toMatchObject({ resumes_at_ms: endMs });
  const { code } = await transcribe([file]);
  expect(code).toBe(0);
  const result = JSON.parse(await readFile(join(out, 'talk.json'), 'utf8'));
  expect(result.finals[0].start_ms).toBe(0);
  expect(result.finals.at(-1).end_ms).toBe(AUDIO_MS);
});

test('paid text of another recording or language is refused, and --force starts over', async () => {
  await stopAfter(1_000, 'SIGINT');
  const before = await usage();
  await writeFile(file, toneWav(900));
  const refused = await transcribe([file]);
  expect([refused.code, refused.err]).toEqual([
    2,
    expect.stringMatching(/talk\.resume\.ndjson has paid text of another audio file/),
  ]);
  expect((await usage()).consumed_ms).toBe(before.consumed_ms);
  const forced = await transcribe([file, '--force']);
  expect(forced.code).toBe(0);
  expect(await readFile(join(out, 'talk.txt'), 'utf8')).toBe(`${TEXT}\n`);
});
