import { readFile } from 'node:fs/promises';
import { AUDIO } from '@svc-asr/protocol';

const PCM = 1;

/** Returns the samples of a 16 kHz mono 16-bit WAV file. Throws for any other format. */
export async function readWave(path: string): Promise<Float32Array> {
  const file = await readFile(path);
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') {
    throw new Error(`${path} is not a WAV file.`);
  }
  for (let at = 12; at + 8 <= file.length;) {
    const kind = file.toString('latin1', at, at + 4);
    const bytes = file.readUInt32LE(at + 4);
    if (kind === 'fmt ') checkFormat(path, file.subarray(at + 8, at + 8 + bytes));
    if (kind === 'data') return toSamples(file.subarray(at + 8, at + 8 + bytes));
    at += 8 + bytes + (bytes % 2);
  }
  throw new Error(`${path} contains no audio.`);
}

function checkFormat(path: string, format: Buffer): void {
  const { sampleRateHz, channels, bytesPerSample } = AUDIO;
  const right =
    format.readUInt16LE(0) === PCM &&
    format.readUInt16LE(2) === channels &&
    format.readUInt32LE(4) === sampleRateHz &&
    format.readUInt16LE(14) === 8 * bytesPerSample;
  if (right) return;
  throw new Error(
    `${path} must be 16 kHz, mono, 16 bit: ffmpeg -i ${path} -ac 1 -ar 16000 -sample_fmt s16 out.wav`,
  );
}

/** Converts s16le bytes to samples. */
export function toSamples(pcm: Buffer): Float32Array {
  return Float32Array.from({ length: pcm.length >> 1 }, (_, i) => pcm.readInt16LE(2 * i) / 32_768);
}

/** Converts samples to s16le bytes, as a client sends them. */
export function toPcm(wave: Float32Array): Uint8Array {
  const pcm = Buffer.alloc(2 * wave.length);
  for (const [i, sample] of wave.entries()) {
    pcm.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))), 2 * i);
  }
  return pcm;
}
