import type { ModelId } from '@svc-asr/protocol/constants.ts';

/** Word error rates of the bundled models on synthetic speech, in percent. */
export interface Accuracy {
  readonly rows: readonly {
    readonly name: 'known' | 'phone' | 'other';
    readonly wer: Readonly<Record<ModelId, string>>;
  }[];
}

/** The rows of the model card that the public page shows. */
const ROWS = [
  ['known', /^\(a\) /],
  ['phone', /^\(d\) /],
  ['other', /^\(c\) /],
] as const;

/** Reads the figures from the model card, so that the public page never differs from it. Throws if a row is missing. */
export function readAccuracy(card: string): Accuracy {
  const table = card
    .split('\n')
    .filter((line) => line.startsWith('| ('))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return {
    rows: ROWS.map(([name, pattern]) => {
      const [, , kikuyu, , dholuo] = table.find(([, title]) => pattern.test(title ?? '')) ?? [];
      return {
        name,
        wer: { 'svc-asr-kikuyu-v1': rateOf(kikuyu), 'svc-asr-dholuo-v1': rateOf(dholuo) },
      };
    }),
  };
}

/** The first of "7.4 / 1.3", the word and character error rate. */
function rateOf(cell = ''): string {
  const rate = /^(\d+\.\d) \/ \d+\.\d$/.exec(cell)?.[1];
  if (rate === undefined) throw new Error(`The model card has no word error rate here: "${cell}"`);
  return rate;
}
