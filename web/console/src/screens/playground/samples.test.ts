import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SAMPLES } from './samples.ts';

test.each(SAMPLES)('the text of $name is what is said in the recording', ({ name, text }) => {
  const fixtures = join(import.meta.dirname, '../../../../../core/models/fixtures');
  expect(readFileSync(join(fixtures, `${name}.txt`), 'utf8').trim()).toBe(text);
});
