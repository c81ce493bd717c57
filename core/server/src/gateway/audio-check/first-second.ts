import { AUDIO } from '@svc-asr/protocol';

/** Recognises text, zeros and clipping by the first second. */

export const FIRST_SECOND_BYTES = AUDIO.sampleRateHz * AUDIO.bytesPerSample;
/** Loud speech reaches full scale occasionally. Only wrongly scaled audio stays there. */
const CLIPPED_SHARE = 0.25;

/** Returns the hint for a first second that cannot be speech. Speech fails the first two checks at one of its first bytes. */
export function judgeFirstSecond(bytes: Uint8Array): string | null {
  if (bytes.every((byte) => byte === 0)) {
    return 'The first second is all zeros. Check that the microphone is on and allowed.';
  }
  if (bytes.every(isBase64)) {
    return 'This looks like base64 text. Send the bytes themselves as binary frames.';
  }
  if (countClipped(bytes) * 2 > bytes.byteLength * CLIPPED_SHARE) {
    return 'Most samples are at full scale. Check the gain and the conversion to 16 bits.';
  }
  return null;
}

function countClipped(bytes: Uint8Array): number {
  let clipped = 0;
  for (let at = 0; at + 1 < bytes.byteLength; at += 2) {
    const high = bytes[at + 1];
    if (high === 0x7f && bytes[at] === 0xff) clipped += 1;
    else if (high === 0x80 && (bytes[at] ?? 0) <= 1) clipped += 1;
  }
  return clipped;
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
