import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { buildPackage } from './build.ts';

/**
 * Returns the public API as text: the declarations of each entry point and of everything they import. A change of the API
 * changes this file, so reviewers see it.
 */
export async function apiReport(folder: string): Promise<string> {
  const manifest: { exports: Record<string, { types: string }> } = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8'),
  );
  const entries = Object.values(manifest.exports).map(({ types }) => normalize(types));
  const files = new Map<string, string>();
  const waiting = [...entries];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (files.has(path)) continue;
    const text = await readFile(join(folder, path), 'utf8');
    files.set(path, withoutComments(text));
    for (const [, target = ''] of text.matchAll(/from ['"](\.[^'"]+)\.js['"]/g)) {
      waiting.push(join(dirname(path), `${target}.d.ts`));
    }
  }
  const order = [
    ...entries,
    ...[...files.keys()].filter((path) => !entries.includes(path)).toSorted(),
  ];
  const sections = order.map((path) => `## ${path}\n\n\`\`\`ts\n${files.get(path)}\n\`\`\`\n`);
  return `# Public surface of @svc-asr/sdk\n\nWritten by \`npm run api-report --prefix sdk\`.\n\n${sections.join('\n')}`;
}

function withoutComments(text: string): string {
  return text
    .replace(/\/\*\*?[\s\S]*?\*\//g, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n');
}

if (import.meta.main) {
  const report = await apiReport(await buildPackage());
  await writeFile(join(import.meta.dirname, '../api-report.md'), report);
}
