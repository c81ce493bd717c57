/** ITU-T G.711, the telephone codec: eight bits per sample. */

const MULAW_BIAS = 0x84;
const ALAW_SPLIT = 8;

const MULAW = Int16Array.from({ length: 256 }, (_, code) => expandMulaw(code));
const ALAW = Int16Array.from({ length: 256 }, (_, code) => expandAlaw(code));

export function decodeMulaw(bytes: Uint8Array): Int16Array {
  return Int16Array.from(bytes, (code) => MULAW[code] ?? 0);
}

export function decodeAlaw(bytes: Uint8Array): Int16Array {
  return Int16Array.from(bytes, (code) => ALAW[code] ?? 0);
}

function expandMulaw(code: number): number {
  const bits = ~code & 0xff;
  const magnitude = (((bits & 0x0f) << 3) + MULAW_BIAS) << ((bits & 0x70) >> 4);
  return (bits & 0x80) === 0 ? magnitude - MULAW_BIAS : MULAW_BIAS - magnitude;
}

function expandAlaw(code: number): number {
  const bits = code ^ 0x55;
  const exponent = (bits & 0x70) >> 4;
  const mantissa = ((bits & 0x0f) << 4) + ALAW_SPLIT;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return (bits & 0x80) === 0 ? -magnitude : magnitude;
}
