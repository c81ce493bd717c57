import { readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { simulate } from './simulate.ts';

/** A small plan for some of the planted bugs, by name. `npm run simulate -- --mutants` hunts all of them. */
const PLANS = resolve(import.meta.dirname, 'mutants');

const names = (await readdir(PLANS)).map((file) => basename(file, '.json'));

test.each(names)('%s is found, and only with the bug', async (name) => {
  const plan = ['--plan', join(PLANS, `${name}.json`)];
  expect(await simulate(plan)).toMatchObject({ passed: true });
  expect(await simulate([...plan, '--mutant', name])).toMatchObject({ passed: false });
});
