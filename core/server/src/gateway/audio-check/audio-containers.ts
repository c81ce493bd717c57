/** Recognises files and encoded streams by their first bytes. */

/** The longest head that a container is recognised by. */
export const HEAD_BYTES = 8;
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

/** Returns the hint for a file whose first `HEAD_BYTES` bytes (or fewer, so far) these are. */
export function findContainer(head: Uint8Array): string | null {
  const container = CONTAINERS.find(({ magic, at = 0 }) =>
    magic.every((byte, index) => head[at + index] === byte),
  );
  return container?.hint ?? null;
}

/** The longest AAC frame: 6,144 bits for each of two channels. */
const ADTS_FRAME_BYTES_MAX = 1_536;
const ADTS_HEADER_BYTES = 7;
/** Headers in a row, each where the one before says. */
const ADTS_HEADERS = 5;
/** Holds that many headers wherever the first one is. */
export const ADTS_BYTES = (ADTS_HEADERS + 1) * ADTS_FRAME_BYTES_MAX;

/** AAC in ADTS has no header of its own: each frame starts with a sync word, its format and its length. */
export function findAdts(bytes: Uint8Array): string | null {
  for (let start = 0; start < ADTS_FRAME_BYTES_MAX; start += 1) {
    if (bytes[start] === 0xff && isAdtsChain(bytes, start)) {
      return 'This looks like AAC. Decode it to 16 kHz PCM first.';
    }
  }
  return null;
}

function isAdtsChain(bytes: Uint8Array, start: number): boolean {
  let at = start;
  for (let header = 0; header < ADTS_HEADERS; header += 1) {
    const length = adtsFrameBytes(bytes, at);
    // Version, profile, sampling rate and channels never change.
    if (length === null || bytes[at + 1] !== bytes[start + 1] || bytes[at + 2] !== bytes[start + 2])
      return false;
    at += length;
  }
  return true;
}

function adtsFrameBytes(bytes: Uint8Array, at: number): number | null {
  const [sync, version, format, high, middle, low] = bytes.subarray(at, at + ADTS_HEADER_BYTES - 1);
  if (low === undefined) return null;
  const isSync = sync === 0xff && ((version ?? 0) & 0xf6) === 0xf0;
  const isKnownRate = (((format ?? 0) >> 2) & 0x0f) <= 12;
  const length = (((high ?? 0) & 3) << 11) | ((middle ?? 0) << 3) | (low >> 5);
  const isLength = length > ADTS_HEADER_BYTES && length <= ADTS_FRAME_BYTES_MAX;
  return isSync && isKnownRate && isLength ? length : null;
}
