import { open } from 'node:fs/promises';
import { readArpa } from './arpa.ts';
import { InvalidLanguageModel, isKenlmBinary, readKenlmBinary } from './kenlm-binary.ts';
import { extendKey, findKey, findWord, UNKNOWN, type NgramTables } from './ngram-tables.ts';
import { U64 } from './u64.ts';

/** The words that the next one depends on, the newest first, and the cost of leaving each of them out. */
export interface Context {
  readonly ids: readonly number[];
  readonly backoffs: readonly number[];
}

export interface Scored {
  /** The logarithm to the base 10 of the word's probability. */
  readonly log10: number;
  readonly next: Context;
}

const EMPTY: Context = { ids: [], backoffs: [] };
/** Larger files would not fit beside acoustic weights. */
const FILE_BYTES_MAX = 2 ** 31;

/** An n-gram model with backoff: how likely is a word after those before it. Immutable, so all streams share it. */
export class NgramModel {
  readonly #tables: NgramTables;
  readonly #key = new U64();
  /** The context at the start of a sentence. */
  readonly begin: Context;
  readonly #end: number;

  constructor(tables: NgramTables) {
    this.#tables = tables;
    const begin = this.idOf('<s>');
    this.begin = begin === UNKNOWN ? EMPTY : this.#contextOf([begin]);
    this.#end = this.idOf('</s>');
  }

  /** Reads an ARPA file or KenLM's probing binary, whatever its name. Throws InvalidLanguageModel. */
  static async load(path: string): Promise<NgramModel> {
    return NgramModel.parse(await readWhole(path));
  }

  static parse(bytes: Uint8Array): NgramModel {
    if (!isKenlmBinary(bytes)) return new NgramModel(readArpa(new TextDecoder().decode(bytes)));
    // Tables are views of 32-bit numbers.
    const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
    return new NgramModel(readKenlmBinary(aligned));
  }

  get order(): number {
    return this.#tables.order;
  }

  /** The vocabulary, or null if the file has only its hashes. */
  get words(): readonly string[] | null {
    return this.#tables.words;
  }

  /** The word's id, or UNKNOWN. */
  idOf(word: string): number {
    return findWord(this.#tables.vocabulary, word);
  }

  /** The score of the end of the sentence. */
  endLog10(context: Context): number {
    return this.#find(context, this.#end).log10;
  }

  score(context: Context, id: number): Scored {
    const { log10 } = this.#find(context, id);
    const older = context.ids.slice(0, Math.max(0, this.order - 2));
    return { log10, next: this.#contextOf([id, ...older]) };
  }

  /** Whether the model has every n-gram of a sentence, as it does if the sentence was in its text and nothing was pruned. */
  hasAllNgrams(words: readonly string[]): boolean {
    let context = this.begin;
    let older = context.ids.length;
    for (const id of [...words.map((word) => this.idOf(word)), this.#end]) {
      const longest = Math.min(older, this.order - 1);
      if (id === UNKNOWN || this.#find(context, id).matched < longest) return false;
      context = this.score(context, id).next;
      older += 1;
    }
    return true;
  }

  /** The score of a word, and how many words of the context the longest n-gram that has it begins with. */
  #find(context: Context, id: number): { log10: number; matched: number } {
    const { ngrams, unigrams } = this.#tables;
    let found = probability(unigrams[2 * id]);
    let matched = 0;
    const key = this.#key.set(0, id);
    for (const [at, older] of context.ids.entries()) {
      const table = ngrams[at];
      if (table === undefined) break;
      extendKey(key, older);
      const place = findKey(table, key);
      if (place < 0) continue;
      found = probability(table.floats[place]);
      matched = at + 1;
    }
    for (let at = matched; at < context.backoffs.length; at += 1) {
      found += context.backoffs[at] ?? 0;
    }
    return { log10: found, matched };
  }

  /** Leaves out words that no n-gram of the model remembers, so that equal contexts are recognised as equal. */
  #contextOf(ids: readonly number[]): Context {
    const { ngrams, unigrams } = this.#tables;
    const [newest = UNKNOWN] = ids;
    const backoffs = [unigrams[2 * newest + 1] ?? 0];
    let known = 1;
    const key = this.#key.set(0, newest);
    for (let at = 1; at < ids.length; at += 1) {
      const table = ngrams[at - 1];
      if (table === undefined) break;
      extendKey(key, ids[at] ?? UNKNOWN);
      const place = findKey(table, key);
      backoffs.push(place < 0 ? 0 : (table.floats[place + 1] ?? 0));
      if (place >= 0) known = at + 1;
    }
    return { ids: ids.slice(0, known), backoffs: backoffs.slice(0, known) };
  }
}

/** KenLM keeps a flag in the sign of a probability. */
function probability(value: number | undefined): number {
  return -Math.abs(value ?? 0);
}

async function readWhole(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > FILE_BYTES_MAX) throw new InvalidLanguageModel('it is larger than 2 GiB');
    const bytes = new Uint8Array(size);
    let at = 0;
    while (at < size) {
      const { bytesRead } = await file.read(bytes, at, size - at, at);
      if (bytesRead === 0) throw new InvalidLanguageModel('it is cut off');
      at += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}
