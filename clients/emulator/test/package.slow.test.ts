import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildPackage, installedNodes } from '@svc-asr/testing/installed-package.ts';
import { startLocalRegistry, type LocalRegistry } from '@svc-asr/testing/local-registry.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** A test as a user would write it. */
const PROGRAM = `
import { startEmulator } from '@svc-asr/emulator';

const emulator = await startEmulator({ texts: ['nĩ wega'] });
emulator.faults.arm({ name: 'unavailable', ms: 0, times: 1 });
const create = () => fetch(emulator.url + '/v1/asr/sessions', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + emulator.apiKey, 'content-type': 'application/json' },
  body: '{"model":"svc-asr-kikuyu-v1"}',
});
const statuses = [(await create()).status, (await create()).status];
await emulator.stop();
console.log(JSON.stringify({ statuses, unmet: emulator.faults.armed }));
`;

/** Checked by a compiler that knows only the package. */
const TYPED = `
import { startEmulator, type Emulator, type Fault } from '@svc-asr/emulator';
const fault: Fault = { name: 'restart', ms: 1_000, times: 1 };
export async function start(): Promise<Emulator> {
  const emulator = await startEmulator({ faults: [fault], sessionsPerMinute: 30 });
  emulator.faults.arm(fault);
  return emulator;
}
`;

/** The Node that package.json promises. */
const OLDEST_NODE = 22;
const BYTES_MAX = 40_000_000;

/** Installed by npm with all dependencies, from this clone's own packages. */
let folder: string;
let registry: LocalRegistry;
let printed: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'emulator-user-'));
  const pack = ['pack', '--silent', '--pack-destination', folder, join(folder, 'built')];
  await buildPackage('@svc-asr/emulator', join(folder, 'built'));
  const tarball = (await run('npm', pack, { cwd: folder })).stdout.trim();
  await rm(join(folder, 'built'), { recursive: true });
  registry = await startLocalRegistry(join(folder, '.npm'));
  printed = await registry.install(folder, [`./${tarball}`]);
  await writeFile(join(folder, 'program.mjs'), PROGRAM);
  await writeFile(join(folder, 'typed.mts'), TYPED);
});
afterAll(async () => {
  await registry.close();
  await rm(folder, { recursive: true });
});

function bytesIn(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Whether an `engines` range accepts a version. Knows the forms that packages use. */
function accepts(range: string, version: readonly number[]): boolean {
  return range.split('||').some((part) => {
    const [, sign, from = ''] = /^\s*(>=|\^|)\s*v?([\d.]+)/.exec(part) ?? [];
    const least = from.split('.').map(Number);
    const difference = [0, 1, 2].map((at) => (version[at] ?? 0) - (least[at] ?? 0));
    const first = difference.find((each) => each !== 0) ?? 0;
    return sign === '>=' ? first >= 0 : first >= 0 && version[0] === least[0];
  });
}

test('the installation is small, runs no scripts and supports the Node it promises', async () => {
  expect(printed).not.toMatch(/EBADENGINE|warn/i);
  expect(bytesIn(join(folder, 'node_modules'))).toBeLessThan(BYTES_MAX);
  const sql = readdirSync(join(folder, 'node_modules/@svc-asr/emulator/core/server/sql'));
  expect(sql.toSorted()).toEqual(['audit', 'functions', 'migrations']);
  const {
    packages,
  }: { packages: Record<string, { hasInstallScript?: true; engines?: { node?: string } }> } =
    JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));
  const names = Object.keys(packages);
  expect(names).toContain('node_modules/fastify');
  expect(names.filter((name) => /onnx|sherpa|grpc/.test(name))).toEqual([]);
  expect(names.filter((name) => packages[name]?.hasInstallScript === true)).toEqual([]);
  const tooNew = names.filter((name) => {
    const range = packages[name]?.engines?.node;
    return range !== undefined && !accepts(range, [OLDEST_NODE, 0, 0]);
  });
  expect(tooNew).toEqual([]);
});

describe.each(installedNodes(OLDEST_NODE))('the packed emulator on Node %s', (_, node) => {
  test('startEmulator starts the service and injects faults', async () => {
    const { stdout } = await run(node, ['program.mjs'], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual({ statuses: [503, 201], unmet: [] });
  });

  test('the command line prints its version', async () => {
    const main = join(folder, 'node_modules/@svc-asr/emulator/clients/emulator/src/main.js');
    const { stdout } = await run(node, [main, '--version']);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

test('the packed types compile in a strict project', async () => {
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022'];
  const compiled = run(tsc, [...options, '--types', '', 'typed.mts'], { cwd: folder });
  await expect(compiled).resolves.toMatchObject({ stdout: '' });
});
