import { registerHooks } from 'node:module';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutate, type Mutant } from './mutant.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');

/**
 * Changes the source of modules as they are loaded. Call it before the code under test is imported. Returns a function
 * that throws unless every changed file was loaded.
 */
export function plant({ name, changes }: Mutant): () => void {
  const missing = new Set(changes.map((change) => change.in));
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.startsWith('file:')) return loaded;
      const file = relative(ROOT, fileURLToPath(url));
      const own = changes.filter((change) => change.in === file);
      if (own.length === 0) return loaded;
      missing.delete(file);
      return { ...loaded, source: mutate(textOf(loaded.source), own) };
    },
  });
  return () => {
    if (missing.size > 0) {
      throw new Error(`The mutant ${name} was not planted: ${[...missing].join(', ')} not loaded.`);
    }
  };
}

function textOf(source: unknown): string {
  if (typeof source === 'string') return source;
  if (source instanceof Uint8Array) return Buffer.from(source).toString('utf8');
  throw new TypeError('A module has no source text.');
}
