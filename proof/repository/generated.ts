import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asyncApiDocument } from '@svc-asr/protocol/documents/asyncapi.ts';
import { openApiDocument } from '@svc-asr/protocol/documents/openapi.ts';
import { compatibleClientsPage } from './compatible-clients.ts';
import { compactJson } from './compact-json.ts';
import { conformancePage, findVerifyingTests } from './conformance.ts';
import { errorPage } from './error-page.ts';
import { referenceFiles } from '@svc-asr/site/reference/reference-files.ts';
import { prometheusRule } from './prometheus-rule.ts';
import { pythonWire } from './reference/python-wire.ts';
import { adminPage, cliPage, emulatorPage } from './reference/command-page.ts';
import { limitsPage } from './reference/limits-page.ts';
import { metricsPage } from './reference/metrics-page.ts';
import { processLimitsPage } from './reference/process-limits-page.ts';
import { pythonPage } from './reference/python-page.ts';
import { sdkErrorsPage } from './reference/sdk-errors.ts';
import { typescriptPage } from './reference/typescript-page.ts';

/** Every generated file but one that needs Python, by its path, with its expected content. */
export async function generatedFiles(root: string): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/openapi.json', compactJson(openApiDocument())],
    ['docs/asyncapi.json', compactJson(asyncApiDocument())],
    ['docs/errors.md', errorPage()],
    ...referenceFiles(),
    ['deploy/kubernetes/components/prometheus-operator/rules.yaml', prometheusRule(root)],
    ['clients/sdk-python/src/svc_asr/wire.py', pythonWire()],
    ['docs/concepts/limits.md', limitsPage()],
    ['docs/operations/process-limits.md', processLimitsPage()],
    ['docs/guides/compatible-clients.md', compatibleClientsPage(root)],
    ['docs/reference/cli.md', cliPage()],
    ['docs/reference/emulator.md', emulatorPage()],
    ['docs/reference/metrics.md', metricsPage(root)],
    ['docs/reference/sdk-errors.md', sdkErrorsPage(root)],
    ['docs/reference/svc-admin.md', adminPage()],
    ['docs/reference/typescript.md', await typescriptPage()],
    ['docs/conformance.md', conformancePage(await findVerifyingTests(root))],
  ]);
}

export async function pythonFile(root: string): Promise<readonly [path: string, text: string]> {
  return ['docs/reference/python.md', await pythonPage(root)];
}

export async function writeGenerated(root: string): Promise<string[]> {
  const changed: string[] = [];
  const files = [...(await generatedFiles(root)), await pythonFile(root)] as const;
  for (const [path, text] of files) {
    const before = await readFile(join(root, path), 'utf8').catch(() => null);
    if (before === text) continue;
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
    changed.push(path);
  }
  return changed;
}
