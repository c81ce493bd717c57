import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ModelId } from '@svc-asr/protocol';
import { readWave } from './audio.ts';
import { normalise } from './scoring.ts';

export const LANGUAGES = ['ki', 'luo'] as const;
export type Language = (typeof LANGUAGES)[number];

export const LANGUAGE_NAMES = { ki: 'Kikuyu', luo: 'Dholuo' } as const;

export const MODEL_OF: Readonly<Record<Language, ModelId>> = {
  ki: 'svc-asr-kikuyu-v1',
  luo: 'svc-asr-dholuo-v1',
};

export interface Utterance {
  readonly name: string;
  readonly language: Language;
  readonly wave: Float32Array;
  readonly spoken: string;
}

const ROOT = join(import.meta.dirname, '../../..');

/** Reads every .wav file of a folder with its .txt file. The file name starts with the language unless it is given. */
export async function readFolder(folder: string, language?: Language): Promise<Utterance[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.wav')).toSorted();
  const utterances: Utterance[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const text = await readFile(path.replace(/\.wav$/, '.txt'), 'utf8').catch(() => null);
    if (text === null) throw new Error(`${path} has no .txt file with its words.`);
    utterances.push({
      name: basename(name, '.wav'),
      language: language ?? languageOf(name),
      wave: await readWave(path),
      spoken: normalise(text),
    });
  }
  if (utterances.length === 0) throw new Error(`${folder} contains no .wav files.`);
  return utterances;
}

export function languageOf(name: string): Language {
  if (/^(ki|kik|kikuyu)[-_.]/.test(name)) return 'ki';
  if (/^(luo|dholuo)[-_.]/.test(name)) return 'luo';
  throw new Error(
    `${name}: unknown language. Use --language ki or luo, or start the file name with ki- or luo-.`,
  );
}

export function readFixtures(): Promise<Utterance[]> {
  return readFolder(join(ROOT, 'core/models/fixtures'));
}

export async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() ?? false;
}

/** Synthesises the held-out sentences on this machine. Keeps existing files. */
export function renderHeldOut(input: {
  sentences: string;
  out: string;
  limit: number;
}): Promise<void> {
  return render(input.out, ['--sentences', input.sentences, '--limit', String(input.limit)]);
}

/** Synthesises the lines of `texts/kik.txt` and `texts/luo.txt` with the same voices. */
export function renderTexts(input: { texts: string; out: string }): Promise<void> {
  return render(input.out, ['--texts', input.texts]);
}

async function render(out: string, source: readonly string[]): Promise<void> {
  if (await isFolder(join(out, 'seen'))) return;
  const child = spawn('python3', ['-m', 'speech.synthesis.held_out', ...source, '--out', out], {
    cwd: join(ROOT, 'training'),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [status] = await once(child, 'exit').catch(() => [-1]);
  if (status === 0) return;
  throw new Error(
    'The held-out sentences could not be synthesised. This needs python3 with numpy and scipy, espeak-ng, ' +
      'festival, festvox-ca-ona-hts and festvox-us-slt-hts; or run without --sentences.',
  );
}
