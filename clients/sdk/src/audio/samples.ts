import { decodeAlaw, decodeMulaw } from './g711.ts';
import { toFloat } from './pcm.ts';

/** Encoding of a sample. All are little-endian. */
export type SampleEncoding =
  | 'pcm_u8'
  | 'pcm_s16le'
  | 'pcm_s24le'
  | 'pcm_s32le'
  | 'float32le'
  | 'mulaw'
  | 'alaw';

export function bytesPerSample(encoding: SampleEncoding): number {
  switch (encoding) {
    case 'pcm_u8':
    case 'mulaw':
    case 'alaw':
      return 1;
    case 'pcm_s16le':
      return 2;
    case 'pcm_s24le':
      return 3;
    case 'pcm_s32le':
    case 'float32le':
      return 4;
  }
}

/** Decodes whole samples and ignores an incomplete last one. */
export function decodeSamples(bytes: Uint8Array, encoding: SampleEncoding): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = bytesPerSample(encoding);
  const each = (read: (at: number) => number): Float32Array =>
    Float32Array.from({ length: Math.floor(bytes.byteLength / size) }, (_, index) =>
      read(index * size),
    );
  switch (encoding) {
    case 'pcm_u8':
      return each((at) => (view.getUint8(at) - 128) / 128);
    case 'pcm_s16le':
      return each((at) => view.getInt16(at, true) / 32_768);
    case 'pcm_s24le':
      return each((at) => (view.getInt16(at + 1, true) * 256 + view.getUint8(at)) / 8_388_608);
    case 'pcm_s32le':
      return each((at) => view.getInt32(at, true) / 2_147_483_648);
    case 'float32le':
      return each((at) => view.getFloat32(at, true));
    case 'mulaw':
      return toFloat(decodeMulaw(bytes));
    case 'alaw':
      return toFloat(decodeAlaw(bytes));
  }
}
