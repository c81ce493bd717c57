import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { simulate } from './simulate.ts';

const PLANS = resolve(import.meta.dirname, 'plans');

test('no run that once broke a guarantee breaks one again', async () => {
  const files = (await readdir(PLANS)).map((file) => join(PLANS, file));
  const last = await simulate(files.flatMap((file) => ['--plan', file]));
  expect(last).toMatchObject({ passed: true, figures: { seeds: files.length, violations: 0 } });
});
