import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { overTelephone } from '../src/conditions.ts';
import { readRecordings } from '../src/recordings.ts';
import { toPcm, readWave } from '../src/audio.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FIXTURES = join(ROOT, 'core/models/fixtures');
const NAMES = ['kikuyu-1', 'dholuo-3'];
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recordings-'));
  for (const name of NAMES) {
    for (const ending of ['wav', 'txt']) {
      await cp(join(FIXTURES, `${name}.${ending}`), join(folder, `${name}.${ending}`));
    }
  }
  await writeFile(join(folder, 'speakers.tsv'), 'kikuyu-1\twanjiru\ndholuo-3.wav\tachieng\n');
});
afterAll(() => rm(folder, { recursive: true }));

async function evaluate(...args: string[]): Promise<{ said: string; figures: unknown }> {
  const program = join(ROOT, 'proof/eval/src/main.ts');
  const given = ['--folder', folder, '--out', join(folder, 'report'), ...args];
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...given]);
  const last: { figures: unknown } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  return { said: stdout, figures: last.figures };
}

test('reads speaker, band and length of recordings', async () => {
  const found = await readRecordings(folder);
  expect(found.map(({ speaker, band, length }) => [speaker, band, length])).toEqual([
    ['achieng', 'wide band', 'under 3 s'],
    ['wanjiru', 'wide band', 'under 3 s'],
  ]);
});

test('classifies no fixture as a telephone recording', async () => {
  const bands = (await readRecordings(FIXTURES)).map(({ band }) => band);
  expect(new Set(bands)).toEqual(new Set(['wide band']));
});

test('recognises a telephone recording', async () => {
  const call = await mkdtemp(join(tmpdir(), 'call-'));
  try {
    const file = await readFile(join(FIXTURES, 'kikuyu-1.wav'));
    const wave = overTelephone(await readWave(join(FIXTURES, 'kikuyu-1.wav')));
    const pcm = toPcm(wave);
    await writeFile(join(call, 'ki-a.wav'), Buffer.concat([file.subarray(0, 44), pcm]));
    await writeFile(join(call, 'ki-a.txt'), 'ee');
    expect((await readRecordings(call))[0]?.band).toBe('telephone band');
  } finally {
    await rm(call, { recursive: true });
  }
});

test('measures a folder with the current models and writes a report', async () => {
  const { said, figures } = await evaluate();
  expect(said).toContain('the models in use');
  expect(figures).toMatchObject({ wer_ki_folder: 0, cer_ki_folder: 0 });
  const page = await readFile(join(folder, 'report/report.html'), 'utf8');
  expect(page).toContain('Out of 100 words');
});

test('writes the report below the current folder without --out', async () => {
  const current = await mkdtemp(join(tmpdir(), 'current-'));
  try {
    const args = [join(ROOT, 'core/models/cli/src/main.ts'), 'compare', 'demo', '--folder', folder];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: current });
    const page = join(await realpath(current), 'eval-report/report.html');
    expect(stdout).toContain(`See ${page} for details.`);
    expect(await readFile(page, 'utf8')).toContain('Out of 100 words');
  } finally {
    await rm(current, { recursive: true });
  }
});

test('says what is wrong with the recordings before scoring, and exits with 1', async () => {
  const damaged = await mkdtemp(join(tmpdir(), 'damaged-'));
  try {
    for (const name of NAMES) {
      await cp(join(FIXTURES, `${name}.wav`), join(damaged, `${name}.wav`));
      await writeFile(join(damaged, `${name}.txt`), 'mÅ©no [cs] 12');
    }
    const program = join(ROOT, 'proof/eval/src/main.ts');
    const args = [program, '--folder', damaged, '--out', join(damaged, 'report')];
    const run = promisify(execFile)(process.execPath, [...args, '--training', folder]);
    const { code, stdout }: { code: number; stdout: string } = await run.catch((error) => error);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^problem: 2 × text encoded twice.*\(dholuo-3, kikuyu-1\)$/m);
    expect(stdout.indexOf('2 × tags')).toBeLessThan(stdout.indexOf('WER %'));
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
      passed: false,
      figures: { found_double_encoded: 2, found_tags: 2, found_digits: 2 },
    });
    const page = await readFile(join(damaged, 'report/report.html'), 'utf8');
    expect(page).toContain('The figures below are wrong until');
  } finally {
    await rm(damaged, { recursive: true });
  }
});

test('compares models on the same recordings', async () => {
  const models = await mkdtemp(join(tmpdir(), 'models-'));
  try {
    for (const name of ['one', 'two'])
      await symlink(join(ROOT, 'core/models/demo'), join(models, name));
    const { said, figures } = await evaluate('--compare', 'one,two', '--models', models);
    expect(said).toContain('too few speakers to tell');
    expect(figures).toMatchObject({ wer_ki_folder: 0, wer_ki_folder_two: 0 });
  } finally {
    await rm(models, { recursive: true });
  }
});
