import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const MAIN = resolve(import.meta.dirname, '../src/main.ts');
const BUG = 'refused-upgrade-spends-credential';
const FAILING = ['--plan', join(import.meta.dirname, 'mutants', `${BUG}.json`), '--mutant', BUG];

/** The whole output: every event with its time, the broken guarantee and the hash of all steps. */
async function run(options: {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}): Promise<string> {
  const env = { ...process.env, ...options.env };
  const running = promisify(execFile)(process.execPath, [MAIN, ...FAILING], { ...options, env });
  const { stdout } = await running.catch((failed: { stdout: string }) => failed);
  return stdout;
}

test('a failing run is the same to the step in another time zone, folder, language and heap', async () => {
  const here = await run({ cwd: process.cwd(), env: { TZ: 'UTC', NODE_OPTIONS: '' } });
  const elsewhere = await run({
    cwd: tmpdir(),
    env: {
      TZ: 'Pacific/Kiritimati',
      LANG: 'tr_TR.UTF-8',
      NODE_OPTIONS: '--max-semi-space-size=1 --stack-trace-limit=3',
    },
  });
  expect(here).toMatch(/steps, hash [0-9a-f]+/);
  expect(here).toContain('"passed":false');
  expect(elsewhere).toBe(here);
});
