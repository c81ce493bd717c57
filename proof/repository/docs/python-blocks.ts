import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, type Block } from './blocks.ts';

const MYPY = join(ROOT, '.cache/python/bin/mypy');

/** Our packages, whose types are checked. Those of others are not: they take a minute. */
const SOURCES = [
  'clients/sdk-python/src',
  'clients/integrations/livekit-python/src',
  'clients/integrations/pipecat/src',
];
const FOREIGN = ['deepgram', 'livekit', 'pipecat', 'openai', 'fastapi', 'uvicorn'];

const SETTINGS = [
  '[mypy]',
  'python_version = 3.10',
  'check_untyped_defs = True',
  'ignore_missing_imports = True',
  'follow_imports = silent',
  // pages assign lambdas, and blocks of one page define the same names
  ...FOREIGN.map((name) => `[mypy-${name}.*]\nfollow_imports = skip`),
  '',
].join('\n');

/** Type-checks each block as a program of its own and returns mypy's errors, by page and line. */
export async function pythonErrors(blocks: readonly Block[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'docs-python-'));
  try {
    const names = blocks.map((_, at) => `block_${at}.py`);
    for (const [at, { code }] of blocks.entries()) {
      await writeFile(join(folder, `block_${at}.py`), code);
    }
    await writeFile(join(folder, 'mypy.ini'), SETTINGS);
    const output = await check(folder, names);
    return [...output.matchAll(/^block_(\d+)\.py:(\d+): error: (.*)$/gm)].map(
      ([, at = '', line = '', message = '']) => {
        const [page, first] = (blocks[Number(at)]?.where ?? '').split(':');
        return `${page}:${Number(first) + Number(line) - 1}: ${message}`;
      },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function check(folder: string, names: readonly string[]): Promise<string> {
  const options = ['--config-file', 'mypy.ini', '--cache-dir', join(ROOT, '.cache/mypy-docs')];
  const env = { MYPYPATH: SOURCES.map((path) => join(ROOT, path)).join(delimiter) };
  try {
    const { stdout } = await promisify(execFile)(MYPY, [...options, ...names], {
      cwd: folder,
      env,
    });
    return stdout;
  } catch (error) {
    const { stdout } = Object(error);
    if (typeof stdout !== 'string' || stdout === '') throw error;
    return stdout;
  }
}
