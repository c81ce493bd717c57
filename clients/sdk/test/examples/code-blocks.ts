import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../../..');

export interface CodeBlock {
  /** Such as `docs/guides/browser.md, line 30`. */
  readonly where: string;
  readonly language: string;
  readonly code: string;
}

/** Returns the fenced code blocks of a Markdown file of the repository. A label of a tab may follow the language. */
export async function codeBlocks(path: string): Promise<CodeBlock[]> {
  const text = await readFile(join(ROOT, path), 'utf8');
  return [...text.matchAll(/^```(\w+)(?: [^\n]*)?\n(.*?)^```$/gms)].map(
    ({ index, 1: language = '', 2: code = '' }) => {
      const line = text.slice(0, index).split('\n').length;
      return { where: `${path}, line ${line}`, language, code };
    },
  );
}
