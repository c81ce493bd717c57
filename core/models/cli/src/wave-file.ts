import { readFile } from 'node:fs/promises';
import { AUDIO } from '@svc-asr/protocol';
import { Problem } from './problem.ts';

const PCM = 1;

/** Returns the s16le bytes of a 16 kHz mono 16-bit WAV file. Throws a Problem for any other file. */
export async function readPcm(path: string): Promise<Buffer> {
  const file = await readFile(path).catch(() => {
    throw new Problem(`${path} cannot be read.`);
  });
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') {
    throw new Problem(`${path} is not a WAV file.`);
  }
  for (let at = 12; at + 8 <= file.length;) {
    const kind = file.toString('latin1', at, at + 4);
    const bytes = file.readUInt32LE(at + 4);
    if (kind === 'fmt ') checkFormat(path, file.subarray(at + 8, at + 8 + bytes));
    if (kind === 'data') return file.subarray(at + 8, at + 8 + bytes);
    at += 8 + bytes + (bytes % 2);
  }
  throw new Problem(`${path} contains no audio.`);
}

function checkFormat(path: string, format: Buffer): void {
  const { sampleRateHz, channels, bytesPerSample } = AUDIO;
  const right =
    format.length >= 16 &&
    format.readUInt16LE(0) === PCM &&
    format.readUInt16LE(2) === channels &&
    format.readUInt32LE(4) === sampleRateHz &&
    format.readUInt16LE(14) === 8 * bytesPerSample;
  if (right) return;
  throw new Problem(
    `${path} must be 16 kHz, mono, 16 bit: ffmpeg -i ${path} -ac 1 -ar 16000 -sample_fmt s16 out.wav`,
  );
}
