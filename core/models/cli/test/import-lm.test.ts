import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadManifests } from '@svc-asr/engine';
import { STAND_IN_DIR, STAND_IN_SET } from '@svc-asr/testing/speech/stand-in.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readCatalogue } from '../src/catalogue.ts';
import { writeModelSet } from '../src/model-set.ts';
import { run } from '../src/program.ts';

const KIKUYU = 'svc-asr-kikuyu-v1';
const DHOLUO = 'svc-asr-dholuo-v1';
const LM = join(import.meta.dirname, '../../../engine/test/lm/words.bin');
let models = '';
beforeEach(async () => {
  models = await mkdtemp(join(tmpdir(), 'models-'));
  await cp(STAND_IN_DIR, join(models, 'ctc'), { recursive: true });
  await writeModelSet(join(models, 'ctc'), STAND_IN_SET);
});
afterEach(() => rm(models, { recursive: true }));

function svcModels(...args: string[]): Promise<number> {
  return run([...args, '--models', models], { say: () => {}, show: () => {}, ask: null });
}

test('a language model is served for its language, with its weights and its hash', async () => {
  const weights = ['--unit', 'word', '--alpha', '0.5', '--beta', '1.5', '--beam', '100'];
  await svcModels('import', 'lm', LM, '--into', 'ctc', '--for', 'ki', ...weights);
  await svcModels('use', 'ctc');
  const manifests = await loadManifests(models);
  expect(manifests.get(KIKUYU)).toMatchObject({
    decoding: { width: 100, pruneHypotheses: 10, lm: { unit: 'word', alpha: 0.5, beta: 1.5 } },
  });
  expect(manifests.get(DHOLUO)).not.toHaveProperty('decoding');
  const copy = join(models, 'ctc/lm-ki');
  expect([...(manifests.get(KIKUYU)?.sha256ByPath.keys() ?? [])]).toContain(copy);
  const bytes = await readFile(copy);
  bytes[200] = (bytes[200] ?? 0) ^ 1;
  await writeFile(copy, bytes);
  await expect(loadManifests(models)).rejects.toThrow('files.lm is not the file');
});

test.each([
  [['--unit', 'word', '--beam', '0'], 'decoding.beam must be a number from 1 to 256'],
  [['--unit', 'word', '--alpha', '11'], 'decoding.alpha must be a number from 0 to 10'],
])('%j is refused by `use`, and the old manifests stay', async (args, problem) => {
  await svcModels('use', 'ctc');
  await svcModels('import', 'lm', LM, '--into', 'ctc', '--for', 'luo', ...args);
  await expect(svcModels('use', 'ctc')).rejects.toThrow(problem);
  expect((await loadManifests(models)).get(DHOLUO)).not.toHaveProperty('decoding');
});

test('a file that is no language model is refused with the reason, and the earlier one stays', async () => {
  const file = join(models, 'notes.txt');
  await writeFile(file, 'not a language model\n');
  const into = ['--into', 'ctc', '--for', 'ki', '--unit', 'word'];
  await svcModels('import', 'lm', LM, ...into);
  const refused = svcModels('import', 'lm', file, ...into);
  await expect(refused).rejects.toThrow('notes.txt: The language model cannot be used');
  await svcModels('use', 'ctc');
  expect(await readFile(join(models, 'ctc/lm-ki'))).toEqual(await readFile(LM));
  expect(await readdir(join(models, 'ctc'))).not.toContain('lm-ki.staging');
});

test('only CTC models take a language model', async () => {
  const set = JSON.parse(await readFile(join(models, 'ctc/model.json'), 'utf8'));
  await writeFile(join(models, 'ctc/model.json'), JSON.stringify({ ...set, kind: 'transducer' }));
  const args = ['--into', 'ctc', '--for', 'ki', '--unit', 'word'];
  await expect(svcModels('import', 'lm', LM, ...args)).rejects.toThrow(
    'Only CTC and Zipformer models',
  );
});

test('a catalogue cannot name a language model outside its folder', async () => {
  const [entry] = await readCatalogue();
  const file = join(models, 'catalogue.json');
  const decoding = { [KIKUYU]: { lm: '../../secret', unit: 'word' } };
  await writeFile(file, JSON.stringify([{ ...entry, decoding }]));
  await expect(readCatalogue(file)).rejects.toThrow('in place of a file name');
});
