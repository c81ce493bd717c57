/** Fields of ONNX's ModelProto and StringStringEntryProto that we read; the format never renumbers them. */
const METADATA_PROPS = 14;
const ENTRY_KEY = 1;
const ENTRY_VALUE = 2;

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/**
 * The key-value metadata of an ONNX file, or null when the bytes are not one. sherpa-onnx exits the
 * whole process on a missing key, so the keys are read here before it loads the file.
 */
export function readOnnxMetadata(file: Uint8Array): ReadonlyMap<string, string> | null {
  const metadata = new Map<string, string>();
  const whole = walk(file, (field, bytes) => {
    if (field !== METADATA_PROPS) return;
    const entry = { key: '', value: '' };
    walk(bytes, (part, text) => {
      if (part === ENTRY_KEY) entry.key = new TextDecoder().decode(text);
      if (part === ENTRY_VALUE) entry.value = new TextDecoder().decode(text);
    });
    metadata.set(entry.key, entry.value);
  });
  return whole ? metadata : null;
}

/** Visits the length-delimited fields of one protobuf message; false when the bytes are not a message. */
function walk(bytes: Uint8Array, visit: (field: number, value: Uint8Array) => void): boolean {
  const at = { position: 0 };
  while (at.position < bytes.length) {
    const tag = varint(bytes, at);
    if (tag === null || tag < 8) return false;
    const wire = tag % 8;
    if (wire === VARINT) {
      if (varint(bytes, at) === null) return false;
    } else if (wire === FIXED64) {
      at.position += 8;
    } else if (wire === FIXED32) {
      at.position += 4;
    } else if (wire === LENGTH_DELIMITED) {
      const length = varint(bytes, at);
      if (length === null || at.position + length > bytes.length) return false;
      visit(Math.floor(tag / 8), bytes.subarray(at.position, at.position + length));
      at.position += length;
    } else {
      return false;
    }
  }
  return at.position === bytes.length;
}

function varint(bytes: Uint8Array, at: { position: number }): number | null {
  let value = 0;
  for (let shift = 0; shift < 70; shift += 7) {
    const byte = bytes[at.position];
    if (byte === undefined) return null;
    at.position += 1;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return value;
  }
  return null;
}
