import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AUDIO } from '@svc-asr/protocol';
import { toPcm, toSamples } from '../audio.ts';

const run = promisify(execFile);
const FFMPEG = ['-v', 'error', '-nostdin', '-threads', '1'];
const PCM = ['-ac', '1', '-ar', String(AUDIO.sampleRateHz), '-f', 's16le'];
const FILES_PER_PROCESS = 60;
const LONGEST_S = '30';

/** Decodes sound files of any format, many with each process of ffmpeg. */
export async function decodeFiles(files: readonly string[]): Promise<Float32Array[]> {
  return inScratchFolder(async (folder) => {
    const waves: Float32Array[] = [];
    for (let at = 0; at < files.length; at += FILES_PER_PROCESS) {
      const some = files.slice(at, at + FILES_PER_PROCESS);
      const inputs = some.flatMap((file) => {
        const format = file.endsWith('.g722') ? ['-f', 'g722'] : [];
        return [...format, '-t', LONGEST_S, '-i', file];
      });
      const outputs = some.flatMap((_, i) => ['-map', `${i}:a`, ...PCM, join(folder, `${i}.pcm`)]);
      await ffmpeg([...inputs, ...outputs, '-y']);
      for (const i of some.keys()) {
        waves.push(toSamples(await readFile(join(folder, `${i}.pcm`))));
      }
    }
    return waves;
  });
}

/** Sends audio through a codec of ffmpeg and back. */
export async function throughCodec(
  wave: Float32Array,
  codec: { readonly encode: readonly string[]; readonly file: string },
): Promise<Float32Array> {
  return inScratchFolder(async (folder) => {
    const [plain, coded] = [join(folder, 'plain.pcm'), join(folder, codec.file)];
    await writeFile(plain, toPcm(wave));
    await ffmpeg([
      ...PCM.slice(-2),
      '-ar',
      '16000',
      '-ac',
      '1',
      '-i',
      plain,
      ...codec.encode,
      coded,
    ]);
    await ffmpeg(['-i', coded, ...PCM, '-y', plain]);
    const decoded = toSamples(await readFile(plain));
    const whole = new Float32Array(wave.length);
    whole.set(decoded.subarray(0, wave.length));
    return whole;
  });
}

async function ffmpeg(args: readonly string[]): Promise<void> {
  await run('ffmpeg', [...FFMPEG, ...args]).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`ffmpeg failed. Run .ci/bootstrap, then retry. ${reason.slice(0, 400)}`, {
      cause: error,
    });
  });
}

async function inScratchFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'turns-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
