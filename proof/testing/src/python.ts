import { existsSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';

const BIN = resolve(import.meta.dirname, '../../../.cache/blackbox/bin');
const TIMEOUT_MS = 120_000;

/** Runs a command of the Python environment for black-box tests and returns its standard output. */
export async function runPython(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  timeoutMs = TIMEOUT_MS,
): Promise<string> {
  const file = join(BIN, command);
  if (!existsSync(file)) throw new Error(`${file} is missing. Run: bash .ci/bootstrap`);
  const { stdout } = await promisify(execFile)(file, [...args], {
    env: { PATH: [BIN, process.env['PATH']].join(delimiter), PYTHONDONTWRITEBYTECODE: '1', ...env },
    timeout: timeoutMs,
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout;
}
