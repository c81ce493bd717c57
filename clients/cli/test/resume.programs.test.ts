import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toneWav } from '@svc-asr/testing/speech/wav.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { continuedAfter, InterruptedRun, TEXT } from './interrupted-run.ts';

let run: InterruptedRun;
beforeEach(async () => {
  run = await InterruptedRun.start({ turns: 40 });
});
afterEach(() => run.end());

test('Ctrl-C at three moments: each run continues, no file shrinks, and no audio is charged twice', async () => {
  const result = await continuedAfter(run, [1, 3_700, 9_000]);
  expect(result).toMatchObject({ status: 'done', audio_ms: run.audioMs });
});

test('a run that was killed continues after its last final', async () => {
  const { journal } = run;
  await run.stopAfter(
    20_000,
    'SIGKILL',
    () => existsSync(journal) && readFileSync(journal, 'utf8').includes('"final"'),
  );
  const endMs = await run.savedMs();
  expect(endMs).toBeGreaterThan(0);
  // A crash can cut the last line.
  await writeFile(journal, `${await readFile(journal, 'utf8')}{"final":{"te`);
  await expect.poll(async () => (await run.usage()).reserved_ms).toBe(0);
  const dry = await run.transcribe(['--dry-run', '--json']);
  expect(JSON.parse(dry.out)).toMatchObject({ resumes_at_ms: endMs });
  expect((await run.transcribe()).code).toBe(0);
  const result = JSON.parse(await readFile(join(run.out, 'talk.json'), 'utf8'));
  expect(result.finals[0].start_ms).toBe(0);
  expect(result.finals.at(-1).end_ms).toBe(run.audioMs);
});

test('paid text of another recording or language is refused, and --force starts over', async () => {
  await run.stopAfter(1_000, 'SIGINT');
  const before = await run.usage();
  await writeFile(run.file, toneWav(900));
  const refused = await run.transcribe();
  expect([refused.code, refused.err]).toEqual([
    2,
    expect.stringMatching(/talk\.resume\.ndjson has paid text of another audio file/),
  ]);
  expect((await run.usage()).consumed_ms).toBe(before.consumed_ms);
  expect((await run.transcribe(['--force'])).code).toBe(0);
  expect(await readFile(join(run.out, 'talk.txt'), 'utf8')).toBe(`${TEXT}\n`);
});
