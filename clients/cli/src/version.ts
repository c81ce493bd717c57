import { readFileSync } from 'node:fs';

/** The version in package.json, which is beside `src` here and beside the modules in the published package. */
export function packageVersion(): string {
  for (const path of ['./package.json', '../package.json']) {
    try {
      const manifest: unknown = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
      if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
        return String(manifest.version);
      }
    } catch {
      // Not in this folder.
    }
  }
  return 'unknown';
}
