import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  installedNodes,
  projectWithPackage,
  type Project,
} from '@svc-asr/testing/installed-package.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildPackage } from '../scripts/build.ts';

const ROOT = join(import.meta.dirname, '../..');
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

let project: Project;
beforeAll(async () => {
  const folders = ['emulator', 'server', 'engine', 'protocol'];
  project = await projectWithPackage(
    buildPackage,
    folders.map((room) => join(ROOT, room, 'node_modules')),
  );
  await writeFile(join(project.folder, 'program.mjs'), PROGRAM);
  await writeFile(join(project.folder, 'typed.mts'), TYPED);
});
afterAll(() => project.remove());

describe.each(installedNodes())('the packed emulator on Node %s', (_, node) => {
  test('startEmulator starts the service and injects faults', async () => {
    const { stdout } = await run(node, ['program.mjs'], { cwd: project.folder });
    expect(JSON.parse(stdout)).toEqual({ statuses: [503, 201], unmet: [] });
  });

  test('the command line prints its version', async () => {
    const main = join(project.folder, 'node_modules/@svc-asr/emulator/emulator/src/main.js');
    const { stdout } = await run(node, [main, '--version']);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

test('the packed types compile in a strict project', async () => {
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022'];
  const compiled = run(tsc, [...options, '--types', '', 'typed.mts'], { cwd: project.folder });
  await expect(compiled).resolves.toMatchObject({ stdout: '' });
});
