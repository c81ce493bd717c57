import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadManifests } from '@svc-asr/engine';
import { STAND_IN, ZIPFORMER } from '@svc-asr/testing/speech/stand-in.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tokensOfVocabulary } from '../src/orthography.ts';
import { run } from '../src/program.ts';

let models = '';
beforeEach(async () => {
  models = await mkdtemp(join(tmpdir(), 'models-'));
});
afterEach(() => rm(models, { recursive: true }));

function svcModels(...args: string[]): Promise<number> {
  return run([...args, '--models', models], { say: () => {}, show: () => {}, ask: null });
}

function importIt(file: string, tokens: string): Promise<number> {
  const named = ['--name', 'mine', '--licence', 'MIT', '--as-published'];
  return svcModels('import', 'ctc', file, '--tokens', tokens, ...named);
}

test('a CTC model of this machine is installed, served and replaced', async () => {
  await importIt(STAND_IN.model, STAND_IN.tokens);
  await svcModels('use', 'mine');
  await importIt(STAND_IN.model, STAND_IN.tokens);
  expect((await loadManifests(models)).get('svc-asr-kikuyu-v1')).toMatchObject({
    build: 'mine',
    kind: 'offline_ctc',
    licence: 'MIT',
  });
});

test.each([
  ['a model of two inputs', ZIPFORMER.joiner, 'takes 2 inputs (encoder_out, decoder_out)'],
  ['another file', STAND_IN.tokens, 'files.model is not an ONNX file'],
  ['nothing', '/nothing.onnx', '/nothing.onnx cannot be read'],
])('%s is refused, and an older import stays', async (_, file, sentence) => {
  await importIt(STAND_IN.model, STAND_IN.tokens);
  await expect(importIt(file, STAND_IN.tokens)).rejects.toThrow(sentence);
  expect(await readdir(models)).toEqual(['mine']);
});

test('labels are recognised by their name', async () => {
  const other = join(models, 'labels-of-mine.json');
  await copyFile(STAND_IN.tokens, other);
  await expect(importIt(STAND_IN.model, other)).rejects.toThrow('must be a file named labels.json');
  const nested = join(models, 'vocab.json');
  await writeFile(nested, JSON.stringify({ kik: { a: 0 } }));
  await expect(importIt(STAND_IN.model, nested)).rejects.toThrow('One for each language does not');
  expect(() => tokensOfVocabulary('{"a":0}')).toThrow('neither <pad> nor [PAD]');
});
