import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readKenlmBinary } from '../src/lm/kenlm-binary.ts';
import { NgramModel, type Context } from '../src/lm/ngram-model.ts';

/** The language models that are in the repository (core/models/lm/MODEL_CARD.md). */
const FOLDER = join(import.meta.dirname, '../../models/lm');
const SIZE_MAX = 3_000_000;

test.each([
  ['kikuyu-characters.bin', "'abcdefghijklmnopqrstuvwxyzĩũ▁"],
  ['dholuo-characters.bin', "'abcdefghijklmnopqrstuvwxyz▁"],
])(
  '%s has n-grams of single letters only, and probabilities that add up to one',
  async (file, letters) => {
    const bytes = new Uint8Array(await readFile(join(FOLDER, file)));
    expect(bytes.byteLength).toBeLessThan(SIZE_MAX);
    const { order, words } = readKenlmBinary(bytes);
    expect(order).toBe(6);
    const marks = new Set(['<unk>', '<s>', '</s>']);
    expect(
      words
        ?.filter((word) => !marks.has(word))
        .toSorted()
        .join(''),
    ).toBe(letters);
    const model = NgramModel.parse(bytes);
    const tokens = letters.split('').map((letter) => model.idOf(letter));
    let context: Context = model.begin;
    for (const letter of 'mũndũ▁na▁mwana▁wake▁gi▁chiege') {
      const next = tokens.map((id) => 10 ** model.score(context, id).log10);
      const unknown = 10 ** model.score(context, 0).log10;
      const sum = next.reduce((total, one) => total + one, unknown + 10 ** model.endLog10(context));
      expect(sum).toBeCloseTo(1, 3);
      context = model.score(context, model.idOf(letter)).next;
    }
  },
);

function scoreOf(model: NgramModel, text: string): number {
  let [sum, context] = [0, model.begin];
  for (const letter of text.replaceAll(' ', '▁')) {
    const { log10, next } = model.score(context, model.idOf(letter));
    [sum, context] = [sum + log10, next];
  }
  return sum + model.endLog10(context);
}

test('a sentence of its language is likelier in each model than in the other', async () => {
  const kikuyu = await NgramModel.load(join(FOLDER, 'kikuyu-characters.bin'));
  const dholuo = await NgramModel.load(join(FOLDER, 'dholuo-characters.bin'));
  const ki = 'mwana nĩarathoma ibuku';
  const luo = 'nyathi dhi e skul';
  expect(scoreOf(kikuyu, ki)).toBeGreaterThan(scoreOf(dholuo, ki));
  expect(scoreOf(dholuo, luo)).toBeGreaterThan(scoreOf(kikuyu, luo));
});
