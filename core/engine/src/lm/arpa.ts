import { refuse } from './kenlm-binary.ts';
import { murmurHash64 } from './murmur-hash.ts';
import {
  bucketsFor,
  extendKey,
  findWord,
  UNKNOWN,
  type NgramTables,
  type ProbingTable,
} from './ngram-tables.ts';
import { U64 } from './u64.ts';

const MULTIPLIER = 1.5;
const ORDER_MAX = 10;
/** A model without `<unk>` gives unknown words this probability, as KenLM does. */
const MISSING_UNKNOWN = -100;
const COUNT = /^ngram (\d+)\s*=\s*(\d+)$/;
const SECTION = /^\\(\d+)-grams:$/;
const encoder = new TextEncoder();

/** Reads the text format of n-gram models into the same tables as a binary file has. */
export function readArpa(text: string): NgramTables {
  const lines = text.split('\n');
  const counts = readCounts(lines);
  const order = counts.length;
  const [unigramCount = 0, ...longer] = counts;
  const unigrams = new Float32Array(2 * (unigramCount + 1));
  unigrams[0] = MISSING_UNKNOWN;
  const vocabulary = emptyTable(unigramCount, 3);
  const ngrams = longer.map((count, at) => emptyTable(count, at === order - 2 ? 3 : 4));
  const words = ['<unk>'];
  const read = counts.map(() => 0);
  let section = 0;
  for (const line of lines) {
    const heading = SECTION.exec(line.trim());
    if (heading !== null) section = Number(heading[1]);
    else if (section > 0 && line.trim() !== '' && !line.startsWith('\\')) {
      const entry = readEntry(line, section);
      read[section - 1] = (read[section - 1] ?? 0) + 1;
      if ((read[section - 1] ?? 0) > (counts[section - 1] ?? 0)) refuse('it has too many n-grams');
      if (section === 1) addWord({ unigrams, vocabulary, words }, entry);
      else addNgram({ vocabulary, table: ngrams[section - 2] }, entry);
    }
  }
  if (!read.every((count, at) => count === counts[at])) refuse('it is cut off');
  return { order, unigrams, vocabulary, ngrams, words };
}

interface Entry {
  readonly words: readonly string[];
  readonly probability: number;
  readonly backoff: number;
}

function readCounts(lines: readonly string[]): readonly number[] {
  const found = lines.slice(0, ORDER_MAX + 8).flatMap((line) => {
    const match = COUNT.exec(line.trim());
    return match === null ? [] : [{ order: Number(match[1]), count: Number(match[2]) }];
  });
  if (found.length < 2 || found.length > ORDER_MAX) refuse('it has no counts of n-grams');
  if (!found.every(({ order, count }, at) => order === at + 1 && count <= lines.length)) {
    refuse('its counts of n-grams are invalid');
  }
  return found.map(({ count }) => count);
}

function readEntry(line: string, order: number): Entry {
  const [probability, ...rest] = line.trim().split(/[\t ]+/);
  const words = rest.slice(0, order);
  const numbers = [Number(probability), Number(rest[order] ?? 0)];
  const isValid =
    words.length === order && rest.length <= order + 1 && numbers.every(Number.isFinite);
  if (!isValid) refuse(`it has an invalid entry among its ${order}-grams`);
  return { words, probability: numbers[0] ?? 0, backoff: numbers[1] ?? 0 };
}

function addWord(
  to: { unigrams: Float32Array; vocabulary: ProbingTable; words: string[] },
  entry: Entry,
): void {
  const [word = ''] = entry.words;
  let id = UNKNOWN;
  if (word !== '<unk>' && word !== '<UNK>') {
    id = to.words.push(word) - 1;
    const at = insert(to.vocabulary, murmurHash64(encoder.encode(word)));
    to.vocabulary.integers[at] = id;
  }
  to.unigrams.set([entry.probability, entry.backoff], 2 * id);
}

function addNgram(
  to: { vocabulary: ProbingTable; table: ProbingTable | undefined },
  entry: Entry,
): void {
  const [newest = UNKNOWN, ...older] = entry.words
    .map((word) => findWord(to.vocabulary, word))
    .toReversed();
  const key = new U64().set(0, newest);
  for (const id of older) extendKey(key, id);
  if (to.table === undefined) return refuse('it has more orders than counts');
  const at = insert(to.table, key);
  to.table.floats[at] = entry.probability;
  if (to.table.stride > 3) to.table.floats[at + 1] = entry.backoff;
}

function emptyTable(entries: number, stride: number): ProbingTable {
  const buckets = bucketsFor(entries, MULTIPLIER);
  const integers = new Uint32Array(buckets * stride);
  return { integers, floats: new Float32Array(integers.buffer), from: 0, stride, buckets };
}

/** Takes a free bucket and returns the position of its values. */
function insert(table: ProbingTable, key: U64): number {
  const { integers, stride, buckets } = table;
  let bucket = key.modulo(buckets);
  for (let looked = 0; looked < buckets; looked += 1) {
    const at = bucket * stride;
    if (integers[at] === 0 && integers[at + 1] === 0) {
      integers[at] = key.low;
      integers[at + 1] = key.high;
      return at + 2;
    }
    if (integers[at] === key.low && integers[at + 1] === key.high) refuse('it repeats an n-gram');
    bucket = bucket + 1 === buckets ? 0 : bucket + 1;
  }
  return refuse('it has too many n-grams');
}
