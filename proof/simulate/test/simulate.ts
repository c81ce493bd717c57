import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const MAIN = resolve(import.meta.dirname, '../src/main.ts');

/** Runs a simulation and returns its last line. Its exit status is 1 if a guarantee was broken. */
export async function simulate(
  options: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...options], {
    env: { ...process.env, ...env },
    maxBuffer: 100 * 1024 * 1024,
  }).catch((failed: { stdout: string }) => failed);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}
