import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { STAND_IN, STAND_IN_DIR, ZIPFORMER_DIR } from '@svc-asr/testing/speech/stand-in.ts';
import { expect, test } from 'vitest';
import { startHub } from './hub-process.ts';
import { vocabularyOfStandIn } from './vocabulary.ts';

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

test('the commands of the guide for files of this machine import and serve them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'guide-'));
  try {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await cp(STAND_IN.model, join(folder, 'model.onnx'));
    await writeFile(join(folder, 'vocab.json'), await vocabularyOfStandIn());
    await cp(ZIPFORMER_DIR, join(folder, 'exp-onnx'), { recursive: true });
    await cp(join(ROOT, 'core/engine/test/lm/words.bin'), join(folder, 'ki-3gram.bin'));
    await writeFile(join(folder, 'ki-unigrams.txt'), 'mwega\n');
    await mkdir(join(folder, 'models'));
    const blocks = [...(await readFile(PAGE, 'utf8')).matchAll(/```sh\n(.*?)```/gs)];
    const lines = blocks[1]?.[1]?.trimEnd().split('\n') ?? [];
    // A checkpoint needs NeMo: the tests of training/ import one.
    const commands = lines.filter((line) => !line.includes(' import nemo '));
    expect(commands).toHaveLength(4);
    for (const command of commands) {
      const env = { ...process.env, MODELS_DIR: join(folder, 'models') };
      await promisify(execFile)('bash', ['-c', command], { cwd: folder, env });
    }
    const manifest = await readFile(join(folder, 'models/svc-asr-kikuyu-v1.json'), 'utf8');
    expect(JSON.parse(manifest)).toMatchObject({
      build: 'mine',
      decoding: { unit: 'word', alpha: 0.5, beta: 1.5, beam: 100 },
      files: { unigrams: { path: 'mine/unigrams-ki' } },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
