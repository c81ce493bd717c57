import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { STAND_IN_DIR } from '@svc-asr/testing/speech/stand-in.ts';
import { expect, test } from 'vitest';
import { startHub } from './hub-process.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const PAGE = join(ROOT, 'docs/guides/weights.md');
const COMMIT = 'c'.repeat(40);

test('the first commands of the guide fetch, serve and try a model of a hub', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'guide-'));
  const published = join(folder, 'published');
  await mkdir(published);
  await cp(join(STAND_IN_DIR, 'model.onnx'), join(published, 'model.int8.onnx'));
  await cp(join(STAND_IN_DIR, 'tokens.txt'), join(published, 'tokens.txt'));
  await mkdir(join(folder, 'models'));
  const [, block = ''] = /```sh\n(.*?)```/s.exec(await readFile(PAGE, 'utf8')) ?? [];
  const commands = block.split('\n').filter((line) => line.startsWith('npx '));
  const [, address = ''] = /hf:(\S+)/.exec(commands[0] ?? '') ?? [];
  const commits = { [COMMIT]: published };
  const repository = { commits, branches: { main: COMMIT }, cardData: { license: 'apache-2.0' } };
  const hub = await startHub({ repositories: { [address]: repository } });
  try {
    let printed = '';
    for (const command of commands) {
      // Nobody is there to answer the question about the licence.
      const line = command.replace('--use', '--use --accept-licence');
      const { stdout } = await promisify(execFile)('bash', ['-c', line], {
        cwd: ROOT,
        env: { ...process.env, HF_ENDPOINT: hub.url, MODELS_DIR: join(folder, 'models') },
      });
      printed += stdout;
    }
    expect(printed).toContain('now use omniasr-300m');
    expect(printed).toMatch(/^text {5}wĩ mwega/m);
    const manifest = await readFile(join(folder, 'models/svc-asr-kikuyu-v1.json'), 'utf8');
    expect(JSON.parse(manifest)).toMatchObject({ build: 'omniasr-300m', licence: 'apache-2.0' });
  } finally {
    await hub.stop();
    await rm(folder, { recursive: true });
  }
});
