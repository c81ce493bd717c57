import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readAccuracy } from './accuracy.ts';
import { renderPublicPage } from './page.ts';

const CARD = readFileSync(
  join(import.meta.dirname, '../../../../core/models/MODEL_CARD.md'),
  'utf8',
);

test('the public page states the word error rates of the model card, the bad ones too', () => {
  const { rows } = readAccuracy(CARD);
  const [, kikuyu = '', dholuo = ''] =
    /^\| \(c\) [^|]*\| ([\d.]+) \/[^|]*\|[^|]*\| ([\d.]+) \//m.exec(CARD) ?? [];
  expect(rows.find(({ name }) => name === 'other')?.wer).toEqual({
    'svc-asr-kikuyu-v1': kikuyu,
    'svc-asr-dholuo-v1': dholuo,
  });
  const page = renderPublicPage('en', readAccuracy(CARD));
  for (const { wer } of rows) {
    for (const rate of Object.values(wer)) expect(page).toContain(`>${rate}</td>`);
  }
});

test('fails the build if the model card loses a figure', () => {
  expect(() => readAccuracy(CARD.replace(/^\| \(c\).*$/m, ''))).toThrow('no word error rate');
});
