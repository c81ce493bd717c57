import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REQUEST_SAMPLES } from '@svc-asr/protocol/documents/request-samples.ts';

export const ROOT = join(import.meta.dirname, '../../..');

/** A fenced code block. */
export interface Block {
  readonly page: string;
  /** Such as `docs/guides/browser.md:30`, the line of its first line of code. */
  readonly where: string;
  readonly language: string;
  readonly code: string;
}

/** Every Markdown page, except the changelog, which keeps what was true, and a report that another test compares. */
export function pages(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'];
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && existsSync(join(ROOT, path)))
    .filter((path) => path !== 'CHANGELOG.md');
}

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** The fenced blocks of every page. A label of a tab may follow the language. */
export function allBlocks(): Block[] {
  return pages().flatMap(blocksOf);
}

export function blocksOf(page: string): Block[] {
  const text = readPage(page);
  return [...text.matchAll(/^( *)```([^\n]*)\n(.*?)^\1```$/gms)].map((match) => {
    const [, indent = '', info = '', code = ''] = match;
    const line = text.slice(0, match.index).split('\n').length + 1;
    return {
      page,
      where: `${page}:${line}`,
      language: info.trim().split(' ')[0] ?? '',
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    };
  });
}

/** Declarations copied from compiled code, not programs. */
const DECLARATIONS = new Set(['docs/reference/typescript.md', 'docs/reference/python.md']);

/** The blocks of every page and the samples of the API reference, which must be programs and messages that work. */
export function checkedBlocks(): Block[] {
  const samples = Object.entries(REQUEST_SAMPLES).flatMap(([operation, own]) =>
    own.map(({ lang, source }): Block => {
      const where = `core/protocol/src/documents/request-samples.ts ${operation}`;
      const language = { Shell: 'sh', TypeScript: 'ts', Python: 'python' }[lang];
      return { page: where, where: `${where}:1`, language, code: `${source}\n` };
    }),
  );
  return [...allBlocks(), ...samples].filter(({ page }) => !DECLARATIONS.has(page));
}

/** A block that a check must reject. */
export function broken(language: string, code: string): Block {
  return { page: 'broken.md', where: 'broken.md:1', language, code };
}
