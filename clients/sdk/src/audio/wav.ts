import { AudioConverter, type SourceFormat } from './converter.ts';
import { bytesPerSample, type SampleEncoding } from './samples.ts';

export interface WavAudio extends Required<SourceFormat> {
  readonly data: Uint8Array;
  readonly durationMs: number;
}

const PCM_BY_BITS: Readonly<Record<number, SampleEncoding>> = {
  8: 'pcm_u8',
  16: 'pcm_s16le',
  24: 'pcm_s24le',
  32: 'pcm_s32le',
};
const EXTENSIBLE = 0xfffe;

/** Reads a WAV file: PCM of 8 to 32 bits, floats, mu-law and A-law. Throws a RangeError with the reason otherwise. */
export function readWav(file: Uint8Array): WavAudio {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.byteLength < 12 || tag(view, 0) !== 'RIFF' || tag(view, 8) !== 'WAVE') {
    throw new RangeError('This is not a WAV file. Convert it first, for example with ffmpeg.');
  }
  let format: Required<SourceFormat> | null = null;
  for (let at = 12; at + 8 <= file.byteLength;) {
    const body = at + 8;
    // A writer that can't seek back leaves a size that is too large. The audio then ends with the file.
    const size = Math.min(view.getUint32(at + 4, true), file.byteLength - body);
    if (tag(view, at) === 'fmt ') format = readFormat(view, body, size);
    if (tag(view, at) === 'data') return withData(format, file.subarray(body, body + size));
    at = body + size + (size % 2);
  }
  throw new RangeError('The WAV file contains no audio.');
}

/** Converts a whole WAV file to 16 kHz mono PCM for a stream. */
export function wavToPcm16k(file: Uint8Array): Int16Array {
  const wav = readWav(file);
  const converter = new AudioConverter(wav);
  const body = converter.push(wav.data);
  const tail = converter.end();
  const pcm = new Int16Array(body.length + tail.length);
  pcm.set(body);
  pcm.set(tail, body.length);
  return pcm;
}

function readFormat(view: DataView, at: number, size: number): Required<SourceFormat> {
  if (size < 16) throw new RangeError('The WAV file has a damaged format header.');
  const bits = view.getUint16(at + 14, true);
  const kind = view.getUint16(at, true);
  const code = kind === EXTENSIBLE && size >= 26 ? view.getUint16(at + 24, true) : kind;
  const encoding = encodingOf(code, bits);
  const channels = view.getUint16(at + 2, true);
  if (encoding === undefined || channels === 0) {
    throw new RangeError(`The WAV file has an unknown format (code ${code}, ${bits} bits).`);
  }
  return { encoding, channels, sampleRateHz: view.getUint32(at + 4, true) };
}

function encodingOf(code: number, bits: number): SampleEncoding | undefined {
  if (code === 1) return PCM_BY_BITS[bits];
  if (code === 3 && bits === 32) return 'float32le';
  if (code === 6) return 'alaw';
  return code === 7 ? 'mulaw' : undefined;
}

function withData(format: Required<SourceFormat> | null, data: Uint8Array): WavAudio {
  if (format === null) throw new RangeError('The WAV file has its audio before its format header.');
  const frameBytes = bytesPerSample(format.encoding) * format.channels;
  const frames = Math.floor(data.byteLength / frameBytes);
  return { ...format, data, durationMs: Math.round((frames * 1000) / format.sampleRateHz) };
}

function tag(view: DataView, at: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map((offset) => view.getUint8(at + offset)));
}
