const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/** One field of a protobuf message. */
export interface Field {
  readonly number: number;
  /** The bytes of the value: a varint, a fixed number, or what a length precedes. */
  readonly value: Uint8Array;
  readonly isDelimited: boolean;
  /** The field as it was written. */
  readonly whole: Uint8Array;
}

/** Lists the fields of a message. Throws a RangeError when the bytes are not one. */
export function fieldsOf(message: Uint8Array): Field[] {
  const fields: Field[] = [];
  const at = { position: 0 };
  while (at.position < message.length) {
    const began = at.position;
    const tag = readVarint(message, at);
    if (tag < 8) throw new RangeError('Not a protobuf message.');
    const wire = tag % 8;
    const isDelimited = wire === LENGTH_DELIMITED;
    const length = isDelimited ? readVarint(message, at) : lengthOf(message, { at, wire });
    const value = message.subarray(at.position, at.position + length);
    if (value.length < length) throw new RangeError('A field is cut off.');
    at.position += length;
    const whole = message.subarray(began, at.position);
    fields.push({ number: Math.floor(tag / 8), value, isDelimited, whole });
  }
  return fields;
}

function lengthOf(
  message: Uint8Array,
  { at, wire }: { at: { readonly position: number }; wire: number },
): number {
  if (wire === FIXED64) return 8;
  if (wire === FIXED32) return 4;
  if (wire !== VARINT) throw new RangeError('Not a protobuf message.');
  const end = { position: at.position };
  readVarint(message, end);
  return end.position - at.position;
}

export function readVarint(bytes: Uint8Array, at: { position: number }): number {
  let value = 0;
  for (let shift = 0; shift < 70; shift += 7) {
    const byte = bytes[at.position];
    if (byte === undefined) break;
    at.position += 1;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return value;
  }
  throw new RangeError('Not a protobuf message.');
}

/** Encodes a whole number. Negative ones take ten bytes, as int32 and int64 fields do. */
export function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

/** Encodes a delimited field from the parts of its value. */
export function delimited(number: number, parts: readonly Uint8Array[]): Uint8Array[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return [varint(number * 8 + LENGTH_DELIMITED), varint(length), ...parts];
}
