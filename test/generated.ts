import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asyncApiDocument } from '@svc-asr/protocol/asyncapi.ts';
import { openApiDocument } from '@svc-asr/protocol/openapi.ts';
import { conformancePage, findVerifyingTests } from './conformance.ts';
import { errorPage } from './error-page.ts';
import { prometheusRule } from './prometheus-rule.ts';
import { pythonWire } from './python-wire.ts';

/** Every generated file, by its path, with its expected content. */
export async function generatedFiles(root: string): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/openapi.json', json(openApiDocument())],
    ['docs/asyncapi.json', json(asyncApiDocument())],
    ['docs/errors.md', errorPage()],
    ['deploy/kubernetes/components/prometheus-operator/rules.yaml', prometheusRule(root)],
    ['sdk-python/src/svc_asr/wire.py', pythonWire()],
    ['docs/conformance.md', conformancePage(await findVerifyingTests(root))],
  ]);
}

function json(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

export async function writeGenerated(root: string): Promise<string[]> {
  const changed: string[] = [];
  for (const [path, text] of await generatedFiles(root)) {
    const before = await readFile(join(root, path), 'utf8').catch(() => null);
    if (before === text) continue;
    await writeFile(join(root, path), text);
    changed.push(path);
  }
  return changed;
}
