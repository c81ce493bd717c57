import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectWith, type PackedProject } from '../../../../proof/testing/src/packed-project.ts';

const ROOT = join(import.meta.dirname, '../../../..');

let emulator: Emulator;
let project: PackedProject;
beforeAll(async () => {
  emulator = await startEmulator({ texts: ['nĩ wega'] });
  project = await projectWith('compatible', ['@fastify/busboy', 'commander', 'ws']);
});
afterAll(async () => {
  await project.remove();
  await emulator.stop();
});

test('the packed svc-compatible transcribes a file and stops on SIGTERM', async () => {
  const program = join(project.folder, 'node_modules/@svc-asr/compatible/main.js');
  const help = await promisify(execFile)(process.execPath, [program, '--help']);
  expect(help.stdout).toContain('svc-compatible');
  expect(help.stdout).toContain('/v1/realtime');
  const child = spawn(process.execPath, [program, '--port', '0'], {
    env: { ...process.env, SVC_BASE_URL: emulator.url },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  try {
    const [url] = await once(createInterface({ input: child.stderr }), 'line');
    const form = new FormData();
    const wav = await readFile(join(ROOT, 'core/models/fixtures/kikuyu-1.wav'));
    form.set('file', new Blob([Uint8Array.from(wav)]), 'kikuyu-1.wav');
    form.set('model', 'svc-asr-kikuyu-v1');
    const response = await fetch(`${String(url)}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${emulator.apiKey}` },
      body: form,
    });
    expect(await response.json()).toMatchObject({ text: 'nĩ wega' });
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
  }
});
