import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  startCompatibleService,
  type CompatibleService,
} from '../../../clients/integrations/compatible/test/compatible-service.ts';
import { blocksOf, ROOT } from './blocks.ts';

const PAGE = 'docs/guides/compatible.md';
const TEXT = 'nĩ wega mũno';

let service: CompatibleService;
let folder: string;
beforeAll(async () => {
  service = await startCompatibleService({ emulator: { texts: [TEXT] } });
  folder = await mkdtemp(join(tmpdir(), 'compatible-guide-'));
  const packages = 'clients/integrations/compatible/node_modules';
  await symlink(join(ROOT, packages), join(folder, 'node_modules'));
  const fixture = 'core/models/fixtures/kikuyu-1.wav';
  await copyFile(join(ROOT, fixture), join(folder, 'recording.wav'));
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

/** Programs of the page that transcribe the recording. */
const programs = blocksOf(PAGE).filter(({ code }) => code.includes('recording.wav'));

test.each(programs)('the $language program at $where prints the transcript', async (block) => {
  const isPython = block.language === 'python';
  const file = isPython ? 'program.py' : 'program.mts';
  const code = block.code
    .replaceAll('https://HOST', service.url)
    .replaceAll('wss://HOST', service.url.replace('http', 'ws'))
    .replaceAll('svc_live_v1_...', service.emulator.apiKey);
  await writeFile(join(folder, file), code);
  const program = isPython ? join(ROOT, '.cache/python/bin/python') : process.execPath;
  const { stdout } = await promisify(execFile)(program, [file], { cwd: folder });
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(TEXT);
});

test('the page has a program for each package of OpenAI and Deepgram', () => {
  expect(programs.map(({ language }) => language)).toEqual(['ts', 'python', 'ts', 'python']);
  for (const name of ['openai', '@deepgram/sdk', 'deepgram']) {
    const imports = new RegExp(`from ['"]?${name}\\b`);
    expect(
      programs.some(({ code }) => imports.test(code)),
      name,
    ).toBe(true);
  }
});
