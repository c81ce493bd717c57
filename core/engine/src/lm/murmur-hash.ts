import { U64 } from './u64.ts';

const FACTOR_HIGH = 0xc6a4a793;
const FACTOR_LOW = 0x5bd1e995;
const SHIFT = 47 - 32;
const BLOCK = 8;

/** MurmurHash64A with seed 0, which KenLM uses for words. */
export function murmurHash64(bytes: Uint8Array): U64 {
  const hash = new U64().set(0, bytes.length).multiply(FACTOR_HIGH, FACTOR_LOW);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const block = new U64();
  const whole = bytes.length - (bytes.length % BLOCK);
  for (let at = 0; at < whole; at += BLOCK) {
    block.set(view.getUint32(at + 4, true), view.getUint32(at, true));
    fold(block.multiply(FACTOR_HIGH, FACTOR_LOW)).multiply(FACTOR_HIGH, FACTOR_LOW);
    hash.xor(block.high, block.low).multiply(FACTOR_HIGH, FACTOR_LOW);
  }
  if (whole < bytes.length) {
    for (let at = bytes.length - 1; at >= whole; at -= 1) {
      const shift = 8 * (at - whole);
      const byte = bytes[at] ?? 0;
      if (shift >= 32) hash.xor(byte << (shift - 32), 0);
      else hash.xor(0, byte << shift);
    }
    hash.multiply(FACTOR_HIGH, FACTOR_LOW);
  }
  return fold(fold(hash).multiply(FACTOR_HIGH, FACTOR_LOW));
}

/** Exclusive-or with itself shifted right by 47. */
function fold(value: U64): U64 {
  return value.xor(0, value.high >>> SHIFT);
}
