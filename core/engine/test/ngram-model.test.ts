import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readArpa } from '../src/lm/arpa.ts';
import { CharacterScorer } from '../src/lm/character-scorer.ts';
import { InvalidLanguageModel, readKenlmBinary } from '../src/lm/kenlm-binary.ts';
import { murmurHash64 } from '../src/lm/murmur-hash.ts';
import { NgramModel } from '../src/lm/ngram-model.ts';
import { U64 } from '../src/lm/u64.ts';
import { WordScorer } from '../src/lm/word-scorer.ts';
import { scorersOf } from '../src/ctc/decoding.ts';

/** Models of a few sentences of our own, and KenLM's scores, written by `speech.ngrams.lm` and `speech.ngrams.lm_reference`. */
const FILES = join(import.meta.dirname, 'lm');
const UNKNOWN = 'xyzzy';

/** The sequences of training/speech/ngrams/lm_reference.py. */
function sequences(words: readonly string[]): string[][] {
  let seed = 1;
  const draw = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return (seed >>> 8) % below;
  };
  const word = () => (draw(8) === 0 ? UNKNOWN : (words[draw(words.length)] ?? ''));
  return Array.from({ length: 10_000 }, () => Array.from({ length: 1 + draw(12) }, word));
}

function scoreOf(model: NgramModel, words: readonly string[]): number {
  let context = model.begin;
  let sum = 0;
  for (const word of words) {
    const { log10, next } = model.score(context, model.idOf(word));
    sum += log10;
    context = next;
  }
  return sum + model.endLog10(context);
}

async function arpaWords(name: string): Promise<string[]> {
  const text = await readFile(join(FILES, `${name}.arpa`), 'utf8');
  const [, unigrams = ''] = /\\1-grams:\n([^]*?)\n\n/.exec(text) ?? [];
  const words = unigrams.split('\n').map((line) => line.split('\t')[1] ?? '');
  return words.filter((word) => !word.startsWith('<'));
}

test.each(['words.arpa', 'words.bin', 'characters.arpa', 'characters.bin'])(
  '%s scores 10,000 sequences as KenLM does, unknown words included',
  async (file) => {
    const [name = ''] = file.split('.');
    const model = await NgramModel.load(join(FILES, file));
    const expected = await readFile(join(FILES, `${name}.f32`));
    let furthest = 0;
    for (const [at, words] of sequences(await arpaWords(name)).entries()) {
      const difference = Math.abs(scoreOf(model, words) - expected.readFloatLE(4 * at));
      furthest = Math.max(furthest, difference);
    }
    expect(furthest).toBeLessThan(1e-4);
  },
);

test('a character scorer adds alpha times the natural logarithms, with ▁ for spaces, and beta for each word', async () => {
  const model = await NgramModel.load(join(FILES, 'characters.bin'));
  const scorer = new CharacterScorer(model, { alpha: 0.7, beta: 0.4 });
  let state = scorer.begin;
  for (const letter of ' mwana  ũyũ') state = scorer.extend(state, letter);
  const log10 = scoreOf(model, 'mwana▁ũyũ'.split(''));
  expect(scorer.end(state)).toBeCloseTo(0.7 * Math.LN10 * log10 + 2 * 0.4, 6);
});

test('a word scorer adds alpha times the natural logarithms and beta for each word', async () => {
  const model = await NgramModel.load(join(FILES, 'words.bin'));
  const [one = '', other = ''] = await arpaWords('words');
  const scorer = new WordScorer(model, { alpha: 0.7, beta: 0.4 });
  const state = scorer.extend(scorer.begin, ` ${one}  ${other}`);
  const log10 = scoreOf(model, [one, other]);
  expect(scorer.end(state)).toBeCloseTo(0.7 * Math.LN10 * log10 + 2 * 0.4, 6);
});

test('words that are not in the word list are unknown and pay unk_score_offset, whole and while they start', async () => {
  const model = await NgramModel.load(join(FILES, 'words.bin'));
  const [listed = '', unlisted = ''] = await arpaWords('words');
  const weights = { alpha: 0.7, beta: 0.4, unknownOffset: -8 };
  const scorer = scorersOf(model, 'word', `${listed}\nnotinthemodel\r\n\n`)(weights);
  const text = ` ${listed} ${unlisted}`;
  const log10 = scoreOf(model, [listed, unlisted]) - 8;
  expect(scorer.end(scorer.extend(scorer.begin, text))).toBeCloseTo(
    0.7 * Math.LN10 * log10 + 2 * 0.4,
    6,
  );
  const started = (letters: string): number => scorer.extend(scorer.begin, letters).score;
  expect(started(listed.slice(0, 2))).toBe(0);
  expect(started('notin')).toBe(-8);
  expect(started('notinthemodel')).toBeCloseTo((-8 * 13) / 6, 9);
  const added = scorer.withWords?.(new Set([unlisted])) ?? scorer;
  expect(added.end(added.extend(added.begin, text))).toBeCloseTo(
    0.7 * Math.LN10 * (log10 + 8) + 2 * 0.4,
    6,
  );
  expect(() => scorersOf(model, 'word', 'notinthemodel\n')).toThrow('no word of its word list');
});

test('a file that is cut off anywhere is refused', async () => {
  const whole = new Uint8Array(await readFile(join(FILES, 'words.bin')));
  for (let length = 64; length < whole.length; length += 97) {
    expect(() => readKenlmBinary(whole.slice(0, length))).toThrow(InvalidLanguageModel);
  }
  const text = await readFile(join(FILES, 'words.arpa'), 'utf8');
  const lines = text.split('\n');
  for (let count = 0; count < lines.length - 4; count += 7) {
    expect(() => readArpa(lines.slice(0, count).join('\n'))).toThrow(InvalidLanguageModel);
  }
});

test.each([
  ['another version', 49, 0x34, 'its KenLM format is not version 5'],
  ['another byte order', 60, 0x3f, 'it was made on a machine of another kind'],
  ['a trie instead of hash tables', 96, 2, 'it is not a probing model'],
  ['an order of 1', 88, 1, 'its order is 1'],
])('a binary with %s is refused with the reason', async (_, at, byte, reason) => {
  const bytes = new Uint8Array(await readFile(join(FILES, 'words.bin')));
  bytes[at] = byte;
  expect(() => readKenlmBinary(bytes)).toThrow(reason);
});

test('64-bit multiplication and remainder equal those of BigInt', () => {
  const mask = 2n ** 64n - 1n;
  let [one, other] = [0x9e3779b97f4a7c15n, 0xc6a4a7935bd1e995n];
  for (let times = 0; times < 2_000; times += 1) {
    const product = (one * other) & mask;
    const value = new U64().set(Number(one >> 32n), Number(one & 0xffffffffn));
    value.multiply(Number(other >> 32n), Number(other & 0xffffffffn));
    expect((BigInt(value.high) << 32n) | BigInt(value.low)).toBe(product);
    const divisor = (other % 1_000_000_007n) + 1n;
    expect(value.modulo(Number(divisor))).toBe(Number(product % divisor));
    [one, other] = [other, product ^ (one >> 7n)];
  }
});

function hex(text: string): string {
  const { high, low } = murmurHash64(new TextEncoder().encode(text));
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
}

test('hashes words of every length as MurmurHash64A does', () => {
  expect(['', 'a', 'mbembe', 'mũgũnda', 'nĩndakenaga mũno'].map(hex)).toEqual([
    '0000000000000000',
    '071717d2d36b6b11',
    '81433640a2ae74e0',
    '0346fa1a39b1e701',
    '7bfd5f8bd21f10a5',
  ]);
});

test('has all n-grams of the sentences of its text, and not of the same words in another order', async () => {
  const text = '\\data\\\nngram 1=6\nngram 2=4\nngram 3=3\n\n\\1-grams:\n';
  const unigrams = ['<unk>', '<s>', '</s>', 'nĩ', 'wega', 'mũno'].map((word) => `-1\t${word}\t0\n`);
  const bigrams = ['<s> nĩ', 'nĩ wega', 'wega mũno', 'mũno </s>'].map((two) => `-1\t${two}\t0\n`);
  const trigrams = ['<s> nĩ wega', 'nĩ wega mũno', 'wega mũno </s>'].map(
    (ngram) => `-1\t${ngram}\n`,
  );
  const arpa = [
    text,
    ...unigrams,
    '\n\\2-grams:\n',
    ...bigrams,
    '\n\\3-grams:\n',
    ...trigrams,
    '\n\\end\\\n',
  ];
  const model = NgramModel.parse(Buffer.from(arpa.join('')));
  expect(model.hasAllNgrams(['nĩ', 'wega', 'mũno'])).toBe(true);
  expect(model.hasAllNgrams(['wega', 'nĩ', 'mũno'])).toBe(false);
  expect(model.hasAllNgrams(['nĩ', 'wega'])).toBe(false);
  expect(model.hasAllNgrams(['nĩ', UNKNOWN])).toBe(false);
});
