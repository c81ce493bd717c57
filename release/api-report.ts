import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, normalize, resolve } from 'node:path';
import { buildPackage } from './build-package.ts';
import { NPM_PACKAGES, type NpmPackageName } from './npm-packages.ts';

/**
 * `npm run api-reports` writes the public API of each npm package that has one to its api-report.md: the declarations of each
 * entry point and of everything they import. A change of the API changes this file, so reviewers see it.
 */
const ROOT = resolve(import.meta.dirname, '..');

export const PACKAGES_WITH_API = [
  '@svc-asr/sdk',
  '@svc-asr/emulator',
  '@svc-asr/compatible',
  '@svc-asr/livekit',
  '@svc-asr/telephony',
] as const satisfies NpmPackageName[];

export function reportPath(name: NpmPackageName): string {
  return join(ROOT, NPM_PACKAGES[name].folder, 'api-report.md');
}

export async function apiReport(name: NpmPackageName): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'api-report-'));
  try {
    return await describePackage(await buildPackage(name, folder));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function describePackage(folder: string): Promise<string> {
  const manifest: { name: string; exports: Record<string, { types: string }> } = JSON.parse(
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
  return `# Public API of ${manifest.name}\n\nWritten by \`npm run api-reports\`.\n\n${sections.join('\n')}`;
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
  for (const name of PACKAGES_WITH_API) await writeFile(reportPath(name), await apiReport(name));
}
