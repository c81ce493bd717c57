import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callSvc, envOf, type Result } from './svc.ts';
import { wavOf } from '@svc-asr/testing/speech/wav.ts';

const TURNS = ['nĩ wega mũno', 'ũhoro waku mũrata', 'tũonane rũciũ'];
const SPOKEN = speech('kikuyu-2').pcm;
const PAUSE = new Uint8Array(1_500 * 32);

let emulator: Emulator;
let folder: string;
let files: string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-turns-'));
  emulator = await startEmulatorOn(await createTestDatabase(), { texts: TURNS, concurrency: 2 });
  const wav = wavOf(Buffer.concat([SPOKEN, PAUSE, SPOKEN, PAUSE, SPOKEN]));
  files = ['a.wav', 'b.wav'].map((name) => join(folder, name));
  await Promise.all(files.map((file) => writeFile(file, wav)));
});
afterAll(async () => {
  await emulator.stop();
  await rm(folder, { recursive: true });
});

function transcribe(...args: readonly string[]): Promise<Result> {
  return callSvc(['transcribe', '-l', 'ki', ...args], { env: envOf(emulator) });
}

test.each([{ flags: [] }, { flags: ['--skip-silence'] }])(
  'prints one line per turn $flags',
  async ({ flags }) => {
    const { code, out } = await transcribe(files[0] ?? '', ...flags);
    expect([code, out]).toEqual([0, `${TURNS.join('\n')}\n`]);
  },
);

test('writes one cue per turn, at the time of its speech, for every file of a bulk', async () => {
  const out = join(folder, 'out');
  const { code } = await transcribe(...files, '-f', 'vtt', '-o', out, '--jobs', '1');
  expect(code).toBe(0);
  for (const name of ['a.vtt', 'b.vtt']) {
    const [, ...cues] = (await readFile(join(out, name), 'utf8')).trim().split('\n\n');
    expect(cues.map((cue) => cue.split('\n')[1])).toEqual(TURNS);
    const starts = cues.map((cue) => Number(cue.slice(6, 12)));
    const turnSeconds = (SPOKEN.byteLength + PAUSE.byteLength) / 32_000;
    for (const [at, start] of starts.entries()) {
      // The previous turn ends 600 ms after its speech, and the scripted recogniser starts the next one there.
      expect(start).toBeGreaterThanOrEqual(Math.max(0, at * turnSeconds - 1.5));
      expect(start).toBeLessThanOrEqual(at * turnSeconds);
    }
  }
});

test('lists the turns in JSON', async () => {
  const { out } = await transcribe(files[0] ?? '', '--json');
  const { text, finals } = JSON.parse(out);
  expect(text).toBe(TURNS.join(' '));
  expect(finals).toMatchObject(TURNS.map((turn) => ({ text: turn })));
});

test('keyterms of both options are sent, and the note names those that are not used', async () => {
  const list = join(folder, 'names.txt');
  await writeFile(list, 'Kĩambu\n3G\n\n');
  const flags = ['--keyterms', 'Wanjirũ, 4G', '--keyterms-file', list];
  const { code, err } = await transcribe(files[0] ?? '', ...flags);
  expect(code).toBe(0);
  expect(err).toContain(
    'Keyterms that are not used: 4G (unsupported characters), 3G (unsupported characters).',
  );
});

test('the note on too many keyterms says that all later ones are not used', async () => {
  const letters = 'abcdefghij'.split('');
  const terms = letters.flatMap((one) => letters.map((other) => `${one}${other}`));
  const flags = ['--keyterms', [...terms, 'kamau', 'njeri'].join(',')];
  const { err } = await transcribe(files[0] ?? '', ...flags);
  expect(err).toContain('Keyterms that are not used: kamau and all after it (too many).');
});

test('a file of keyterms that cannot be read ends the command before any charge', async () => {
  const missing = join(folder, 'missing.txt');
  const { code, err } = await transcribe(files[0] ?? '', '--keyterms-file', missing);
  expect([code, err]).toEqual([2, expect.stringContaining("can't be read")]);
});

test('--numbers writes digits to text and subtitles, and adds them to JSON', async () => {
  emulator.say(['ciringi magana matano']);
  const out = join(folder, 'digits');
  const flags = ['--numbers', '-f', 'txt,srt,json', '-o', out];
  expect((await transcribe(files[0] ?? '', ...flags)).code).toBe(0);
  const [txt = '', srt = '', json = ''] = await Promise.all(
    ['a.txt', 'a.srt', 'a.json'].map((name) => readFile(join(out, name), 'utf8')),
  );
  expect(txt.split('\n')[0]).toBe('ciringi 500');
  expect(srt.split('\n')[2]).toBe('ciringi 500');
  expect(JSON.parse(json).finals[0]).toMatchObject({
    text: 'ciringi magana matano',
    text_formatted: 'ciringi 500',
    entities: [{ kind: 'amount', value: 500 }],
  });
});
