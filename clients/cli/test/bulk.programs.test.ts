import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SvcClient, type CreditBalance } from '@svc-asr/sdk';
import { openStream } from '@svc-asr/sdk/stream';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callSvc, envOf, runSvc, type Result } from './svc.ts';
import { toneWav, wavOf } from '@svc-asr/testing/speech/wav.ts';

const TEXT = 'nĩ wega mũno';
const MODEL = 'svc-asr-kikuyu-v1';

let emulator: Emulator;
let folder: string;
beforeAll(async () => {
  emulator = await startEmulatorOn(await createTestDatabase(), { texts: [TEXT], concurrency: 4 });
});
afterAll(() => emulator.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-bulk-'));
});
afterEach(async () => {
  emulator.faults.clear();
  await rm(folder, { recursive: true });
});

type SvcOptions = Partial<Pick<Parameters<typeof runSvc>[1], 'onStart'>> & { on?: Emulator };

function transcribe(args: readonly string[], options: SvcOptions = {}): Promise<Result> {
  const env = envOf(options.on ?? emulator);
  const command = ['transcribe', '-l', 'ki', ...args];
  const { onStart } = options;
  return onStart === undefined ? callSvc(command, { env }) : runSvc(command, { env, onStart });
}

/** Creates files with tones of the given length and returns their paths. */
async function tones(names: readonly string[], ms = 700): Promise<string[]> {
  const wav = toneWav(ms);
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, wav);
      return path;
    }),
  );
}

function usage(of: Emulator = emulator): Promise<CreditBalance> {
  return new SvcClient({ baseUrl: of.url, apiKey: of.apiKey }).usage.get();
}

async function lines(result: Result): Promise<Record<string, unknown>[]> {
  return result.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('output files', () => {
  test('refuses two inputs with one output before anything is sent', async () => {
    const before = await usage();
    const inputs = await tones(['a.mp3', 'a.m4a']);
    const out = join(folder, 'out');
    const { code, err } = await transcribe([...inputs, '-o', out]);
    expect(code).toBe(2);
    expect(err).toContain(`${inputs[0]} and ${inputs[1]} would both write ${join(out, 'a.txt')}`);
    expect((await usage()).recent_sessions).toEqual(before.recent_sessions);
    await expect(access(out)).rejects.toThrow('ENOENT');
  });

  test('skips files that are done and transcribes them again with --force', async () => {
    const inputs = await tones(['a.wav', 'b.wav']);
    const out = join(folder, 'out');
    await mkdir(out);
    await writeFile(join(out, 'a.txt'), 'my corrections\n');
    const first = await transcribe([...inputs, '-o', out]);
    expect(first.code).toBe(0);
    expect(first.err).toMatch(/- a\.wav {2}already done/);
    expect(first.err).toMatch(/Total: 1 done, 1 skipped · 0:00 of audio · 1 s charged/);
    expect(await readFile(join(out, 'a.txt'), 'utf8')).toBe('my corrections\n');
    expect(await readFile(join(out, 'b.txt'), 'utf8')).toBe(`${TEXT}\n`);
    await transcribe([...inputs, '-o', out, '--force']);
    expect(await readFile(join(out, 'a.txt'), 'utf8')).toBe(`${TEXT}\n`);
    expect((await readdir(out)).toSorted()).toEqual(['a.txt', 'b.txt']);
  });

  test('keeps a finished transcript when a later run has too little credit', async () => {
    const inputs = [join(folder, 'long.wav')];
    await writeFile(join(folder, 'long.wav'), wavOf(speech('kikuyu-1').pcm));
    const out = join(folder, 'out');
    await mkdir(out);
    await writeFile(join(out, 'long.txt'), 'the whole transcript\n');
    const poor = await startEmulatorOn(await createTestDatabase(), {
      texts: [TEXT],
      creditMs: 2_000,
    });
    const { code } = await transcribe([...inputs, '-o', out, '--force'], { on: poor });
    await poor.stop();
    expect(code).toBe(4);
    expect(await readFile(join(out, 'long.txt'), 'utf8')).toBe('the whole transcript\n');
    expect(await readFile(join(out, 'long.txt.partial'), 'utf8')).toBe(`${TEXT}\n`);
  });

  test('Ctrl-C on continuous speech flushes first and writes the text that was paid for', async () => {
    emulator.faults.arm({ name: 'engine-pause', ms: 20_000, times: 1 });
    const inputs = await tones(['speech.wav'], 240_000);
    const out = join(folder, 'out');
    let isInterrupted = false;
    const result = await transcribe([...inputs, '-o', out], {
      onStart: (child) => {
        const timer = setInterval(() => {
          if (!isInterrupted && emulator.faults.met.some(({ name }) => name === 'engine-pause')) {
            isInterrupted = true;
            child.kill('SIGINT');
          } else if (isInterrupted) {
            emulator.faults.clear();
            clearInterval(timer);
          }
        }, 100);
      },
    });
    expect(result.code).toBe(130);
    expect(result.err).toMatch(/✗ speech\.wav {2}Interrupted\. Transcribed up to \d:\d\d\./);
    const written = await readFile(join(out, 'speech.txt.partial'), 'utf8');
    expect(new Set(written.trim().split('\n'))).toEqual(new Set([TEXT]));
    const [session] = (await usage()).recent_sessions;
    expect(session).toMatchObject({ status: 'completed' });
  });
});

describe('inputs', () => {
  test('a folder means its audio files, and with --recursive those of its subfolders too', async () => {
    await tones(['in/a.wav', 'in/deep/a.WAV']);
    await writeFile(join(folder, 'in/notes.txt'), 'not audio');
    const flat = await transcribe([join(folder, 'in'), '--json']);
    expect((await lines(flat)).map(({ file }) => file)).toEqual([join(folder, 'in/a.wav')]);
    const out = join(folder, 'out');
    const deep = await transcribe([join(folder, 'in'), '--recursive', '-o', out]);
    expect(deep.code).toBe(0);
    expect((await readdir(out, { recursive: true })).toSorted()).toEqual([
      'a.txt',
      'deep',
      'deep/a.txt',
    ]);
  });

  test('expands quoted patterns, and says when one matches nothing', async () => {
    await tones(['one.wav', 'two.wav', 'sub/three.wav']);
    const found = await transcribe([join(folder, '**/*.wav'), '--json']);
    expect((await lines(found)).map(({ status }) => status)).toEqual(['done', 'done', 'done']);
    const none = await transcribe([join(folder, '*.mp3')]);
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('No files match')]);
    const empty = await transcribe([join(folder, 'sub'), folder, join(folder, 'sub/none/')]);
    expect(empty.code).not.toBe(0);
  });

  test('--version prints the version of the package', async () => {
    const env = { PATH: process.env['PATH'] };
    const { code, out } = await runSvc(['--version'], { env });
    expect([code, out]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  });
});

describe('--json', () => {
  const ways = [{ args: ['--json'] }, { args: ['-f', 'json'] }];
  test.each(ways)(
    '$args: one line per file, failures included, fields spelled alike',
    async ({ args }) => {
      const inputs = await tones(['a.wav']);
      const broken = join(folder, 'broken.wav');
      await writeFile(broken, 'this is text');
      const result = await transcribe([...inputs, broken, join(folder, 'missing.wav'), ...args]);
      expect(result.code).toBe(1);
      const [done, unreadable, missing] = await lines(result);
      expect(done).toMatchObject({ status: 'done', text: TEXT, audio_ms: 700, charged_ms: 1_000 });
      expect(unreadable).toMatchObject({ status: 'failed', error: { code: 'unreadable_media' } });
      expect(missing).toMatchObject({
        status: 'failed',
        error: { code: 'ENOENT', request_id: null },
      });
      expect(result.out).not.toMatch(/"[a-z]+[A-Z]\w*":/);
    },
  );

  test('with -o, names the file that was written and leaves the transcript there', async () => {
    const inputs = await tones(['a.wav']);
    const out = join(folder, 'out');
    const [line] = await lines(await transcribe([...inputs, '-o', out, '--json']));
    const output = join(out, 'a.json');
    expect(line).toEqual({
      file: inputs[0],
      status: 'done',
      output,
      audio_ms: 700,
      charged_ms: 1_000,
    });
    expect(JSON.parse(await readFile(output, 'utf8'))).toMatchObject({ text: TEXT });
    const [again] = await lines(await transcribe([...inputs, '-o', out, '--json']));
    expect(again).toEqual({ file: inputs[0], status: 'skipped', output });
  });

  test('a session that several files share is charged once for its rounding', async () => {
    const inputs = await tones(['a.wav', 'b.wav', 'c.wav', 'd.wav']);
    const before = await usage();
    const result = await transcribe([...inputs, '--json', '--jobs', '1']);
    const files = await lines(result);
    const charged = files.reduce((sum, file) => sum + Number(file['charged_ms']), 0);
    expect(charged).toBe(3_000);
    expect((await usage()).consumed_ms - before.consumed_ms).toBe(3_000);
    expect(files.map(({ words }) => Object(words)[0].start_ms)).toEqual([0, 0, 0, 0]);
    expect(files.map(({ finals }) => Object(finals)[0].end_ms)).toEqual([700, 700, 700, 700]);
  });
});

describe('waiting', () => {
  test('beside another stream of an account with one session, says at once what it waits for and how to end that', async () => {
    const single = await startEmulatorOn(await createTestDatabase(), { texts: [TEXT] });
    try {
      const client = new SvcClient({ baseUrl: single.url, apiKey: single.apiKey });
      const other = openStream({ session: await client.sessions.create({ model: MODEL }) });
      await new Promise((resolve) => other.on('ready', resolve));
      const [input = ''] = await tones(['a.wav']);
      const told = Promise.withResolvers<string>();
      const run = transcribe([input], {
        on: single,
        onStart: ({ stderr }) => {
          let text = '';
          stderr?.on('data', (piece: Buffer) => {
            text += String(piece);
            if (text.includes('Waiting')) told.resolve(text);
          });
        },
      });
      const text = await told.promise;
      expect(text).toContain('This account already has an active or reserved ASR session');
      expect(text).toContain('Stop the other program, such as `svc listen`');
      await other.close();
      const { code, out, err } = await run;
      expect({ code, out }).toEqual({ code: 0, out: `${TEXT}\n` });
      expect(err.match(/Waiting/g)).toHaveLength(1);
    } finally {
      await single.stop();
    }
  });
});
