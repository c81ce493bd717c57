import { bucketsFor, type NgramTables, type ProbingTable } from './ngram-tables.ts';

const MAGIC = 'mmap lm http://kheafield.com/code format version 5\n\0';
const KENLM = 'mmap lm http://kheafield.com/code';
/** Numbers at offset 56 that tell whether the writer's machine stores them as ours does. */
const SANITY_AT = 56;
const SANITY = new Uint8Array(
  new Uint32Array([0, 0x3f800000, 0xbf000000, 1, 0xffffffff, 0, 1, 0]).buffer,
);
const PARAMETERS_AT = 88;
const COUNTS_AT = 108;
const PROBING = 0;
const ORDER_MAX = 10;
/** Sizes in 32-bit words. */
const VOCABULARY_STRIDE = 3;
const MIDDLE_STRIDE = 4;
const LONGEST_STRIDE = 3;

export class InvalidLanguageModel extends Error {
  constructor(problem: string) {
    super(`The language model cannot be used: ${problem}.`);
    this.name = 'InvalidLanguageModel';
  }
}

export function isKenlmBinary(bytes: Uint8Array): boolean {
  return startsWith(bytes, 0, Buffer.from(KENLM));
}

/** Reads KenLM's binary with probing hash tables (`build_binary` without options). The tables are views of `bytes`. */
export function readKenlmBinary(bytes: Uint8Array): NgramTables {
  const { buffer, byteOffset, byteLength } = bytes;
  if (!startsWith(bytes, 0, Buffer.from(MAGIC))) refuse('its KenLM format is not version 5');
  if (!startsWith(bytes, SANITY_AT, SANITY)) refuse('it was made on a machine of another kind');
  if (byteLength < COUNTS_AT) refuse('it is cut off');
  const view = new DataView(buffer, byteOffset, byteLength);
  const order = view.getUint8(PARAMETERS_AT);
  const multiplier = view.getFloat32(PARAMETERS_AT + 4, true);
  if (order < 2 || order > ORDER_MAX) refuse(`its order is ${order}, not 2 to ${ORDER_MAX}`);
  if (view.getUint32(PARAMETERS_AT + 8, true) !== PROBING) {
    refuse('it is not a probing model; build_binary makes one without options or with "probing"');
  }
  if (!(multiplier >= 1 && multiplier < 100)) refuse('its probing multiplier is invalid');
  if (byteOffset % 4 !== 0) throw new RangeError('The bytes must be aligned to 4.');
  const hasWords = view.getUint8(PARAMETERS_AT + 12) !== 0;
  const counts = readCounts(view, order);
  const length = Math.floor(byteLength / 4);
  const integers = new Uint32Array(buffer, byteOffset, length);
  const floats = new Float32Array(buffer, byteOffset, length);
  const header = COUNTS_AT + 8 * order;
  // After the header: the version and bound of the vocabulary.
  let at = Math.ceil(header / 8) * 2 + 2;
  const table = (entries: number, stride: number): ProbingTable => {
    const found = { integers, floats, from: at, stride, buckets: bucketsFor(entries, multiplier) };
    at += found.buckets * stride;
    return found;
  };
  const [words = 0, ...longer] = counts;
  const vocabulary = table(words, VOCABULARY_STRIDE);
  const unigrams = floats.subarray(at, at + 2 * (words + 1));
  at += 2 * (words + 1);
  const ngrams = longer.map((entries, index) =>
    table(entries, index === order - 2 ? LONGEST_STRIDE : MIDDLE_STRIDE),
  );
  if (at > length) refuse('it is cut off');
  return {
    order,
    unigrams,
    vocabulary,
    ngrams,
    words: hasWords ? readWords(bytes.subarray(4 * at), words) : null,
  };
}

function readCounts(view: DataView, order: number): readonly number[] {
  const counts: number[] = [];
  if (view.byteLength < COUNTS_AT + 8 * order) refuse('it is cut off');
  for (let at = 0; at < order; at += 1) {
    const count = view.getBigUint64(COUNTS_AT + 8 * at, true);
    // Each n-gram takes at least eight bytes.
    if (count > BigInt(view.byteLength) / 8n) refuse('it is cut off');
    counts.push(Number(count));
  }
  return counts;
}

/** Each word ends with a NUL. `<unk>` is the first. */
function readWords(bytes: Uint8Array, count: number): readonly string[] {
  const text = new TextDecoder('utf-8', { fatal: true });
  const words: string[] = [];
  let from = 0;
  for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, from)) {
    words.push(text.decode(bytes.subarray(from, end)));
    from = end + 1;
  }
  if (words.length !== count && words.length !== count + 1) refuse('its list of words is cut off');
  return words;
}

function startsWith(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  return expected.every((byte, index) => bytes[at + index] === byte);
}

export function refuse(problem: string): never {
  throw new InvalidLanguageModel(problem);
}
