import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildPackage } from './build-package.ts';
import type { NpmPackageName } from './npm-packages.ts';

/**
 * `npm run api-reports` writes what each npm package exports to public-api.md, so that reviewers see a change. The SDK's
 * declarations are in docs/reference/typescript.md.
 */
export const REPORT = join(import.meta.dirname, 'public-api.md');
const PACKAGES = [
  '@svc-asr/emulator',
  '@svc-asr/compatible',
  '@svc-asr/livekit',
  '@svc-asr/telephony',
] as const satisfies NpmPackageName[];

export async function apiReport(): Promise<string> {
  const sections: string[] = [];
  for (const name of PACKAGES) {
    const folder = await mkdtemp(join(tmpdir(), 'api-report-'));
    try {
      sections.push(await exportsOf(await buildPackage(name, folder)));
    } finally {
      await rm(folder, { recursive: true });
    }
  }
  return `# Exports of the npm packages\n\nWritten by \`npm run api-reports\`.\n\n${sections.join('\n')}`;
}

async function exportsOf(folder: string): Promise<string> {
  const manifest: { name: string; exports: Record<string, { types: string }> } = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8'),
  );
  const lines: string[] = [];
  for (const [entry, { types }] of Object.entries(manifest.exports)) {
    const text = await readFile(resolve(folder, types), 'utf8');
    const declared = [...text.matchAll(/^export (?:declare )?(?:abstract )?[a-z]+ (\w+)/gm)];
    const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) =>
      names.split(','),
    );
    const names = [...declared.map(([, name = '']) => name), ...listed]
      .map((name) => name.trim().replace(/^type /, ''))
      .filter((name) => name !== '')
      .toSorted();
    lines.push(`- \`${manifest.name}${entry.slice(1)}\`: ${names.join(', ')}\n`);
  }
  return lines.join('');
}

if (import.meta.main) await writeFile(REPORT, await apiReport());
