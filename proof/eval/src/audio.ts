import { readPcm } from '@svc-asr/models/wave-file.ts';

/** Returns the samples of a 16 kHz mono 16-bit WAV file. Throws for any other format. */
export async function readWave(path: string): Promise<Float32Array> {
  return toSamples(await readPcm(path));
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
