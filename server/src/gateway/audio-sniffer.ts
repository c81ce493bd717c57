import { AUDIO } from '@svc-asr/protocol';

/** Checks the first second of audio for wrong formats, which would otherwise give garbage without an error. */
export interface SnifferState {
  readonly seenBytes: number;
  readonly head: readonly number[];
  readonly zeroBytes: number;
  readonly base64Bytes: number;
  readonly clippedSamples: number;
}

export const INITIAL_SNIFFER: SnifferState = {
  seenBytes: 0,
  head: [],
  zeroBytes: 0,
  base64Bytes: 0,
  clippedSamples: 0,
};

const FIRST_SECOND_BYTES = AUDIO.sampleRateHz * AUDIO.bytesPerSample;
/** Loud speech reaches full scale occasionally. Only wrongly scaled audio stays there. */
const CLIPPED_SHARE = 0.25;
/** The longest head that a container is recognised by. */
const HEAD_BYTES = 8;
/** `at` is the offset of the magic bytes. Default 0. */
const CONTAINERS: readonly { magic: readonly number[]; at?: number; hint: string }[] = [
  { magic: [0x52, 0x49, 0x46, 0x46], hint: 'This looks like a WAV file. Send the samples only.' },
  { magic: [0x4f, 0x67, 0x67, 0x53], hint: 'This looks like Ogg. Decode it to 16 kHz PCM first.' },
  { magic: [0x49, 0x44, 0x33], hint: 'This looks like MP3. Decode it to 16 kHz PCM first.' },
  { magic: [0x66, 0x4c, 0x61, 0x43], hint: 'This looks like FLAC. Decode it to 16 kHz PCM first.' },
  { magic: [0x1a, 0x45, 0xdf, 0xa3], hint: 'This looks like WebM. Decode it to 16 kHz PCM first.' },
  { magic: [0x46, 0x4f, 0x52, 0x4d], hint: 'This looks like AIFF. Decode it to 16 kHz PCM first.' },
  {
    magic: [0x66, 0x74, 0x79, 0x70],
    at: 4,
    hint: 'This looks like MP4 or M4A. Decode it to 16 kHz PCM first.',
  },
];

/** Returns the next state, or the hint that ends the check. Null after one second without a hint. */
export function sniff(sniffer: SnifferState, pcm: Uint8Array): SnifferState | string | null {
  const part = pcm.subarray(0, FIRST_SECOND_BYTES - sniffer.seenBytes);
  const head =
    sniffer.head.length < HEAD_BYTES
      ? [...sniffer.head, ...part.subarray(0, HEAD_BYTES)]
      : sniffer.head;
  const container = CONTAINERS.find(({ magic, at = 0 }) =>
    magic.every((byte, index) => head[at + index] === byte),
  );
  if (container !== undefined) return container.hint;

  const counted = count(sniffer, part, head);
  return counted.seenBytes < FIRST_SECOND_BYTES ? counted : judge(counted);
}

function count(before: SnifferState, part: Uint8Array, head: readonly number[]): SnifferState {
  let { zeroBytes, base64Bytes, clippedSamples } = before;
  for (let at = 0; at + 1 < part.byteLength; at += 2) {
    const low = part[at] ?? 0;
    const high = part[at + 1] ?? 0;
    if (low === 0) zeroBytes += 1;
    if (high === 0) zeroBytes += 1;
    if (isBase64(low)) base64Bytes += 1;
    if (isBase64(high)) base64Bytes += 1;
    if ((low === 0xff && high === 0x7f) || (low <= 1 && high === 0x80)) clippedSamples += 1;
  }
  return {
    seenBytes: before.seenBytes + part.byteLength,
    head: head.slice(0, HEAD_BYTES),
    zeroBytes,
    base64Bytes,
    clippedSamples,
  };
}

function judge(seen: SnifferState): string | null {
  if (seen.zeroBytes === seen.seenBytes) {
    return 'The first second is all zeros. Check that the microphone is on and allowed.';
  }
  if (seen.base64Bytes === seen.seenBytes) {
    return 'This looks like base64 text. Send the bytes themselves as binary frames.';
  }
  if (seen.clippedSamples * 2 > seen.seenBytes * CLIPPED_SHARE) {
    return 'Most samples are at full scale. Check the gain and the conversion to 16 bits.';
  }
  return null;
}

function isBase64(byte: number): boolean {
  return (
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x2f && byte <= 0x39) ||
    byte === 0x2b ||
    byte === 0x3d
  );
}
