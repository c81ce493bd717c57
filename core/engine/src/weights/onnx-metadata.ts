import { fieldsOf } from './protobuf.ts';

/** Fields of ONNX's ModelProto and StringStringEntryProto that we read; the format never renumbers them. */
const METADATA_PROPS = 14;
const ENTRY_KEY = 1;
const ENTRY_VALUE = 2;

/**
 * The key-value metadata of an ONNX file, or null when the bytes are not one. sherpa-onnx exits the
 * whole process on a missing key, so the keys are read here before it loads the file.
 */
export function readOnnxMetadata(file: Uint8Array): ReadonlyMap<string, string> | null {
  try {
    const entries = fieldsOf(file).filter(
      ({ number, isDelimited }) => number === METADATA_PROPS && isDelimited,
    );
    return new Map(entries.map(({ value }) => readEntry(value)));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function readEntry(entry: Uint8Array): [key: string, value: string] {
  const texts = new Map<number, string>();
  for (const { number, value, isDelimited } of fieldsOf(entry)) {
    if (isDelimited) texts.set(number, new TextDecoder().decode(value));
  }
  return [texts.get(ENTRY_KEY) ?? '', texts.get(ENTRY_VALUE) ?? ''];
}
