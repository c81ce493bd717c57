import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { Silero } from '../src/index.ts';
import { expectReference } from './silero-reference.ts';

const SOUNDS = '/usr/share/asterisk/sounds';
const FILES_PER_VOICE = 4;
const PCM = ['-ac', '1', '-ar', '16000', '-f', 's16le', '-'];

async function recordings(voice: string): Promise<Int16Array[]> {
  const files = (await readdir(join(SOUNDS, voice))).filter((name) => name.endsWith('.g722'));
  return Promise.all(
    files.slice(0, FILES_PER_VOICE).map(async (name) => {
      const { stdout } = await promisify(execFile)(
        'ffmpeg',
        ['-v', 'error', '-i', join(SOUNDS, voice, name), ...PCM],
        { encoding: 'buffer', maxBuffer: 2 ** 24 },
      );
      return new Int16Array(Uint8Array.from(stdout).buffer);
    }),
  );
}

test('gives the verdicts of ONNX Runtime on recorded human voices', async () => {
  const voices = await readdir(SOUNDS);
  const waves = (await Promise.all(voices.map(recordings))).flat();
  const { hops, difference } = await expectReference(await Silero.load(), waves);
  expect(hops).toBeGreaterThan(500);
  expect(difference).toBeLessThan(5e-5);
});
