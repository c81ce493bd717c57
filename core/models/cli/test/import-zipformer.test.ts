import { copyFile, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadManifests } from '@svc-asr/engine';
import { ZIPFORMER_CHUNK_FRAMES, ZIPFORMER_DIR } from '@svc-asr/testing/speech/stand-in.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { run } from '../src/program.ts';

const KIKUYU = 'svc-asr-kikuyu-v1';
const LM = join(import.meta.dirname, '../../../engine/test/lm/characters.bin');
const EPOCH = '-epoch-30-avg-9-chunk-16-left-128';
let models = '';
let exported = '';
beforeEach(async () => {
  models = await mkdtemp(join(tmpdir(), 'models-'));
  exported = await mkdtemp(join(tmpdir(), 'icefall-'));
  for (const part of ['encoder', 'decoder', 'joiner']) {
    await copyFile(join(ZIPFORMER_DIR, `${part}.onnx`), join(exported, `${part}${EPOCH}.onnx`));
  }
  await copyFile(join(ZIPFORMER_DIR, 'tokens.txt'), join(exported, 'tokens.txt'));
});
afterEach(async () => {
  for (const folder of [models, exported]) await rm(folder, { recursive: true });
});

function svcModels(...args: string[]): Promise<number> {
  return run([...args, '--models', models], { say: () => {}, show: () => {}, ask: null });
}

function importIt(...more: string[]): Promise<number> {
  const named = ['--name', 'zip', '--licence', 'Apache-2.0'];
  return svcModels('import', 'zipformer', exported, ...named, ...more);
}

test("icefall's files are installed and served with a beam, and take a language model", async () => {
  await importIt();
  await svcModels('use', 'zip');
  expect((await loadManifests(models)).get(KIKUYU)).toMatchObject({
    build: 'zip',
    kind: 'zipformer_transducer',
    chunkFrames: ZIPFORMER_CHUNK_FRAMES,
    decoding: { width: 4 },
  });
  const weights = ['--unit', 'character', '--alpha', '0.3', '--beam', '8'];
  await svcModels('import', 'lm', LM, '--into', 'zip', '--for', 'ki', ...weights);
  await svcModels('use', 'zip');
  expect((await loadManifests(models)).get(KIKUYU)).toMatchObject({
    decoding: { width: 8, lm: { unit: 'character', alpha: 0.3 } },
  });
});

test('--int8 takes the 8-bit encoder and joiner, and the decoder as it is', async () => {
  for (const part of ['encoder', 'joiner']) {
    await cp(join(exported, `${part}${EPOCH}.onnx`), join(exported, `${part}${EPOCH}.int8.onnx`));
  }
  await importIt('--int8');
  await rm(join(exported, `joiner${EPOCH}.int8.onnx`));
  await expect(importIt('--int8')).rejects.toThrow('The folder has no joiner*.int8.onnx');
});

test('two encoders in a folder are refused by name', async () => {
  await cp(join(exported, `encoder${EPOCH}.onnx`), join(exported, 'encoder-epoch-31.onnx'));
  await expect(importIt()).rejects.toThrow('several encoder*.onnx: encoder-epoch-30');
});

test('files that the engine cannot serve are refused, and an older import stays', async () => {
  await importIt();
  const encoder = join(exported, `encoder${EPOCH}.onnx`);
  const bytes = await readFile(encoder);
  const at = bytes.indexOf('decode_chunk_len');
  bytes.write('xecode_chunk_len', at);
  await writeFile(encoder, bytes);
  await expect(importIt()).rejects.toThrow('it is not a streaming model');
  expect(await readdir(models)).toEqual(['zip']);
  await svcModels('use', 'zip');
  expect((await loadManifests(models)).get(KIKUYU)?.build).toBe('zip');
});
