import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const SRC = resolve(import.meta.dirname, '../src');
const PROTOCOL = resolve(import.meta.dirname, '../../protocol/src');
const IMPORT = /^(?:import|export)(?! type)[^;]*? from '([^']+)';/gms;

/** The modules that a file loads at once, without those that it imports on demand. */
async function loadedBy(file: string, found = new Set<string>()): Promise<Set<string>> {
  const text = await readFile(file, 'utf8');
  for (const [, specifier = ''] of text.matchAll(IMPORT)) {
    const path = pathOf(file, specifier);
    if (found.has(path ?? specifier)) continue;
    found.add(path ?? specifier);
    if (path !== null) await loadedBy(path, found);
  }
  return found;
}

function pathOf(file: string, specifier: string): string | null {
  if (specifier === '@svc-asr/protocol') return join(PROTOCOL, 'index.ts');
  if (specifier.startsWith('@svc-asr/protocol/')) return join(PROTOCOL, specifier.slice(18));
  return specifier.startsWith('.') ? resolve(dirname(file), specifier) : null;
}

/** Each costs 5 to 45 MB in every process that loads it. */
const HEAVY = ['typebox', 'onnxruntime-node', 'sherpa-onnx-node', '@grpc/grpc-js'];

test.each([
  ['a recogniser before it knows its weights', 'pool/child-main.ts', []],
  ['a transducer', 'recognisers/sherpa-recogniser.ts', ['sherpa-onnx-node']],
  ['a gateway with its own recognisers', 'pool/pool.ts', []],
  ['a gateway with the second detector', 'silero/silero-confirmer.ts', []],
  ['a gateway of engine nodes', 'riva/riva-engine.ts', ['@grpc/grpc-js']],
])('%s loads no library that it does not need', async (_, file, needed) => {
  const loaded = await loadedBy(join(SRC, file));
  expect(HEAVY.filter((name) => loaded.has(name))).toEqual(needed);
});
