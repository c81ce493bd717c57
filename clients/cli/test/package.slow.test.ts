import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import {
  installedNodes,
  projectWithPackage,
  type Project,
} from '@svc-asr/testing/installed-package.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const FIXTURE = join(ROOT, 'core/models/fixtures/kikuyu-1.wav');
const run = promisify(execFile);

let emulator: Emulator;
let project: Project;
beforeAll(async () => {
  [emulator, project] = await Promise.all([
    startEmulator({ texts: ['nĩ wega mũno'] }),
    projectWithPackage('@svc-asr/cli', [
      join(ROOT, 'clients/cli/node_modules'),
      join(ROOT, 'clients/sdk/node_modules'),
    ]),
  ]);
});
afterAll(async () => {
  await Promise.all([emulator.stop(), project.remove()]);
});

test.each(installedNodes())('the packed CLI transcribes on Node %s', async (_, node) => {
  const program = join(project.folder, 'node_modules/@svc-asr/cli/svc.js');
  const env = {
    PATH: process.env['PATH'],
    SVC_BASE_URL: emulator.url,
    SVC_API_KEY: emulator.apiKey,
    SVC_CONFIG: join(project.folder, 'none.json'),
  };
  const { stdout } = await run(node, [program, 'transcribe', FIXTURE, '-l', 'ki'], { env });
  expect(stdout).toBe('nĩ wega mũno\n');
});

test('the package is public, scoped, and has one command', async () => {
  const text = await readFile(join(project.folder, 'built/package.json'), 'utf8');
  const manifest: unknown = JSON.parse(text);
  expect(manifest).toMatchObject({ name: '@svc-asr/cli', bin: { svc: './svc.js' } });
  expect(manifest).not.toHaveProperty('private');
});
