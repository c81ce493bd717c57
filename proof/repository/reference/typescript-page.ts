import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { MODEL_IDS } from '@svc-asr/protocol';
import { buildPackage } from '../../../release/build-package.ts';

/** Returns docs/reference/typescript.md: the exported declarations of the published package, with their comments. */
export async function typescriptPage(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sdk-api-'));
  try {
    await buildPackage('@svc-asr/sdk', folder);
    return await renderPackage(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const INTRODUCTION = `# TypeScript API

The [README](../../clients/sdk/README.md) of \`@svc-asr/sdk\` shows how to use it, and [SDK errors](sdk-errors.md) lists the codes of \`SvcError\`.
\`npm run docs\` writes this page from the declarations.`;

async function renderPackage(folder: string): Promise<string> {
  const manifest: { name: string; exports: Record<string, { types: string }> } = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8'),
  );
  const shown = new Set<string>();
  const parts = [INTRODUCTION];
  for (const [entry, { types }] of Object.entries(manifest.exports)) {
    const module = manifest.name + entry.slice(1);
    const exports = await exportsOf(folder, normalize(types));
    const fresh = exports.filter(({ name }) => !shown.has(name));
    const repeated = exports.filter(({ name }) => shown.has(name));
    for (const { name } of fresh) shown.add(name);
    parts.push(`## ${module}`);
    if (repeated.length > 0) {
      parts.push(`Also exports ${repeated.map(({ name }) => `\`${name}\``).join(', ')}.`);
    }
    parts.push(...fresh.toSorted(byKindAndName).map(renderExport));
  }
  return `${parts.join('\n\n')}\n`;
}

interface Exported {
  readonly name: string;
  readonly isValue: boolean;
  readonly comment: string;
  readonly declaration: string;
}

function byKindAndName(a: Exported, b: Exported): number {
  if (a.isValue !== b.isValue) return a.isValue ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

function renderExport({ name, comment, declaration }: Exported): string {
  const about = comment === '' ? [] : [comment];
  return [`### ${name}`, ...about, `\`\`\`ts\n${declaration}\n\`\`\``].join('\n\n');
}

/** Everything that a declaration file exports, followed through `export ... from`. */
async function exportsOf(folder: string, path: string): Promise<Exported[]> {
  const text = await readFile(join(folder, path), 'utf8');
  const own = [...text.matchAll(/^export (?:declare )?(?:abstract )?(\w+) (\w+)/gm)].flatMap(
    ([, kind = '', name = '']) =>
      DECLARED.has(kind) && name !== '' ? [declarationOf(text, name, !TYPES.has(kind))] : [],
  );
  const found = own;
  for (const [, kind, names = '', from = ''] of text.matchAll(
    /^export (type )?\{([^}]*)\} from '(.+?)\.js';/gms,
  )) {
    const target = normalize(join(dirname(path), `${from}.d.ts`));
    const source = await readFile(join(folder, target), 'utf8');
    for (const item of names.split(',').map((each) => each.trim())) {
      if (item === '') continue;
      const isType = kind !== undefined || item.startsWith('type ');
      const name = item.replace(/^type /, '');
      found.push(await follow(folder, { target, source, name, isValue: !isType }));
    }
  }
  return found;
}

const DECLARED = new Set(['class', 'function', 'interface', 'type', 'const']);
const TYPES = new Set(['interface', 'type']);

async function follow(
  folder: string,
  input: { target: string; source: string; name: string; isValue: boolean },
): Promise<Exported> {
  const { target, source, name, isValue } = input;
  if (lineOf(source.split('\n'), name) !== -1) return declarationOf(source, name, isValue);
  const exports = await exportsOf(folder, target);
  const found = exports.find((each) => each.name === name);
  if (found !== undefined) return found;
  const from = new RegExp(`import type \\{[^}]*\\b${name}\\b[^}]*\\} from '(.+?)\\.js'`).exec(
    source,
  );
  const origin = normalize(join(dirname(target), `${from?.[1] ?? ''}.d.ts`));
  return declarationOf(await readFile(join(folder, origin), 'utf8'), name, isValue);
}

function lineOf(lines: readonly string[], name: string): number {
  const begin = new RegExp(
    `^export (?:declare )?(?:class|function|interface|type|const) ${name}\\b`,
  );
  return lines.findIndex((line) => begin.test(line));
}

function declarationOf(source: string, name: string, isValue: boolean): Exported {
  const lines = source.split('\n');
  const first = lineOf(lines, name);
  if (first === -1) throw new Error(`No declaration of ${name}.`);
  const declaration = lines
    .slice(first, endOf(lines, first) + 1)
    .join('\n')
    .replace(/^export (declare )?/, '')
    .replace('(typeof MODEL_IDS)[number]', MODEL_IDS.map((id) => `'${id}'`).join(' | '))
    .replace(/^(const \w+) = ".*$/, '$1: string;')
    .replace(/^ {4}#private;\n/m, '')
    // A class that is exported as a type can't be constructed.
    .replace(isValue ? /$^/ : /^ {4}constructor\(.*\n/m, '');
  return { name, isValue, comment: commentBefore(lines, first), declaration };
}

/** The last line of a declaration: where its brackets are closed and it ends. */
function endOf(lines: readonly string[], first: number): number {
  let open = 0;
  for (let at = first; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').replaceAll(/\/\*.*?\*\/|'[^']*'|"[^"]*"/g, '');
    if (/^\s*(\/\*|\*)/.test(line)) continue;
    open += (line.match(/[{(]/g) ?? []).length - (line.match(/[})]/g) ?? []).length;
    if (open === 0 && /[;}]$/.test(line)) return at;
  }
  throw new Error('A declaration does not end.');
}

function commentBefore(lines: readonly string[], first: number): string {
  if (!(lines[first - 1] ?? '').endsWith('*/')) return '';
  const begin = lines.slice(0, first).findLastIndex((line) => line.startsWith('/**'));
  return plain(lines.slice(begin, first).join('\n'));
}

/** The text of a comment, without stars and samples. */
function plain(comment: string): string {
  return comment
    .replaceAll(/^\/\*\*|\*\/$/gm, '')
    .replaceAll(/^\s*\* ?/gm, '')
    .replaceAll(/^```.*?^```$/gms, '')
    .trim();
}
