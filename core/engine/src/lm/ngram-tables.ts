import { murmurHash64 } from './murmur-hash.ts';
import { U64 } from './u64.ts';

/** A word's place in the unigram table. Unknown words are 0. */
export const UNKNOWN = 0;

/**
 * A hash table with linear probing: `stride` 32-bit words per bucket, which begin with a 64-bit key, the low half first.
 * Key 0 marks an empty bucket.
 */
export interface ProbingTable {
  readonly integers: Uint32Array;
  readonly floats: Float32Array;
  /** Position of the first bucket. */
  readonly from: number;
  readonly stride: number;
  readonly buckets: number;
}

/** The tables of an n-gram model, in the layout of KenLM's probing files. */
export interface NgramTables {
  readonly order: number;
  /** A probability and a backoff per word id. */
  readonly unigrams: Float32Array;
  /** Word hashes and their ids. */
  readonly vocabulary: ProbingTable;
  /** Orders 2 to the longest; the longest has no backoff. */
  readonly ngrams: readonly ProbingTable[];
  /** The words by id, or null if the file has none. */
  readonly words: readonly string[] | null;
}

const OLDER_FACTOR = { high: 0x7c9ba273, low: 0x3b63f585 };
const WORD_FACTOR = { high: 0xf8574e12, low: 0x21634907 };
const encoder = new TextEncoder();
const wordPart = new U64();

/** Extends the key of an n-gram, whose first word is the newest, by the next older word. */
export function extendKey(key: U64, wordId: number): void {
  wordPart.set(0, wordId + 1).multiply(WORD_FACTOR.high, WORD_FACTOR.low);
  key.multiply(OLDER_FACTOR.high, OLDER_FACTOR.low).xor(wordPart.high, wordPart.low);
}

/** Returns the position of the values of that key, or -1. */
export function findKey(table: ProbingTable, key: U64): number {
  const { integers, from, stride, buckets } = table;
  let bucket = key.modulo(buckets);
  // A valid table has an empty bucket. The limit guards against one that lies.
  for (let looked = 0; looked < buckets; looked += 1) {
    const at = from + bucket * stride;
    const low = integers[at] ?? 0;
    const high = integers[at + 1] ?? 0;
    if (low === key.low && high === key.high) return at + 2;
    if (low === 0 && high === 0) return -1;
    bucket = bucket + 1 === buckets ? 0 : bucket + 1;
  }
  return -1;
}

export function findWord(vocabulary: ProbingTable, word: string): number {
  const at = findKey(vocabulary, murmurHash64(encoder.encode(word)));
  return at < 0 ? UNKNOWN : (vocabulary.integers[at] ?? UNKNOWN);
}

/** Buckets of a table with that many entries: at least one stays empty. */
export function bucketsFor(entries: number, multiplier: number): number {
  return Math.max(entries + 1, Math.trunc(Math.fround(Math.fround(multiplier) * entries)));
}
