import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pages, ROOT } from './blocks.ts';

/** Returns the words that are neither British English nor in words.txt, as `page: word`. */
async function misspelt(files: readonly string[]): Promise<string[]> {
  const cspell = join(ROOT, 'node_modules/.bin/cspell');
  const options = ['--no-progress', '--no-summary', '--relative', '--config', 'cspell.json'];
  const output = await new Promise<string>((resolve, reject) => {
    const child = execFile(
      cspell,
      ['lint', ...options, '--file-list', 'stdin'],
      { cwd: ROOT },
      (error, stdout, stderr) => {
        // 1: words were found.
        if (error !== null && error.code !== 1) reject(new Error(stderr));
        else resolve(stdout);
      },
    );
    child.stdin?.end(files.join('\n'));
  });
  return [...output.matchAll(/^(\S+?):\d+:\d+ - Unknown word \((.*?)\)/gm)].map(
    ([, page = '', word = '']) => `${page}: ${word}`,
  );
}

test('every word of the pages is British English or in proof/repository/docs/words.txt', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'docs-spelling-'));
  try {
    const wrong = join(folder, 'wrong.md');
    await writeFile(wrong, 'The recogniser recieves colours, and `recieve` is code.\n');
    const words = await misspelt([...pages(), wrong]);
    expect(words.filter((word) => !word.includes('wrong.md'))).toEqual([]);
    expect(words.filter((word) => word.includes('wrong.md'))).toHaveLength(1);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
