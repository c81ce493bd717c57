import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadManifests } from '@svc-asr/engine';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readCatalogue } from '../src/catalogue.ts';
import { pruneTokens, tokensOfLabels } from '../src/orthography.ts';
import { run } from '../src/program.ts';

const MODELS = join(import.meta.dirname, '../..');
const KIKUYU = 'svc-asr-kikuyu-v1';
const DHOLUO = 'svc-asr-dholuo-v1';
let models = '';
let said: string[] = [];
beforeEach(async () => {
  said = [];
  models = await mkdtemp(join(tmpdir(), 'models-'));
  await cp(join(MODELS, 'demo'), join(models, 'demo'), { recursive: true });
  for (const id of [KIKUYU, DHOLUO]) {
    await cp(join(MODELS, `${id}.json`), join(models, `${id}.json`));
  }
});
afterEach(() => rm(models, { recursive: true }));

function svcModels(...args: string[]): Promise<number> {
  const terminal = { say: (line: string) => void said.push(line), show: () => {}, ask: null };
  return run([...args, '--models', models], terminal);
}

async function install(name: string, change: Record<string, unknown>): Promise<void> {
  await cp(join(models, 'demo'), join(models, name), { recursive: true });
  const path = join(models, name, 'model.json');
  const set: Record<string, unknown> = JSON.parse(await readFile(path, 'utf8'));
  await writeFile(path, JSON.stringify({ ...set, build: name, ...change }));
}

test('the bundled manifests are exactly those that `use demo` writes', async () => {
  const before = await readFile(join(models, `${KIKUYU}.json`), 'utf8');
  await svcModels('use', 'demo');
  expect(await readFile(join(models, `${KIKUYU}.json`), 'utf8')).toBe(before);
});

test('an empty MODELS_DIR is unset: the bundled models are found', async () => {
  vi.stubEnv('MODELS_DIR', '');
  const terminal = { say: () => {}, show: () => {}, ask: null };
  // An unknown model would be named instead of the recording.
  const missing = run(['try', 'demo', '/nowhere/a.wav'], terminal);
  await expect(missing).rejects.toThrow('/nowhere/a.wav');
  vi.unstubAllEnvs();
});

test('a missing checkpoint is named before NeMo is looked for', async () => {
  const args = ['import', 'nemo', '/nowhere/a.nemo', '--name', 'mine', '--licence', 'MIT'];
  await expect(svcModels(...args)).rejects.toThrow('/nowhere/a.nemo cannot be read.');
});

test('one model id can use other weights than the other, with their lead-in', async () => {
  await install('better', { extra_lead_in_ms: 160 });
  expect(await svcModels('use', 'better', '--for', 'luo')).toBe(0);
  const manifests = await loadManifests(models);
  expect(manifests.get(DHOLUO)).toMatchObject({ build: 'better', extraLeadInMs: 160 });
  expect(manifests.get(KIKUYU)).toMatchObject({ build: 'demo-2026-11-17', extraLeadInMs: 0 });
});

test('weights that the engine refuses are not used, and the old ones stay', async () => {
  await install('broken', {});
  await writeFile(join(models, 'broken/encoder.onnx'), 'no encoder');
  const before = await readFile(join(models, `${KIKUYU}.json`), 'utf8');
  await expect(svcModels('use', 'broken')).rejects.toThrow('files.encoder is not an ONNX file');
  expect(await readFile(join(models, `${KIKUYU}.json`), 'utf8')).toBe(before);
  await loadManifests(models);
});

test('names weights that are not installed', async () => {
  await expect(svcModels('use', 'omniasr-ctc-300m')).rejects.toThrow('is not installed');
});

test('list shows what is installed with its streams a core, what is in use and what can be fetched', async () => {
  await install('better', {
    stated: { languages: ['kik'], published: ['WER 9 on X, by its card'] },
  });
  await install('broken', {});
  await writeFile(join(models, 'broken/encoder.onnx'), 'no encoder');
  await svcModels('list');
  const text = said.join('\n');
  expect(text).toMatch(/better +transducer +CC-BY-SA-4.0 +kik +\d+( or more)? +-/);
  expect(text).toMatch(/broken +transducer +CC-BY-SA-4.0 +kik, luo +cannot be loaded +-/);
  expect(text).toMatch(
    /demo +transducer +CC-BY-SA-4.0 +kik, luo +\d+.* +svc-asr-kikuyu-v1, svc-asr-dholuo-v1/,
  );
  expect(text).toMatch(/omniasr-ctc-300m +365 MB +Apache-2.0 +kik, luo/);
  expect(text).toContain('better: WER 9 on X, by its card');
  expect(text).toMatch(/afrivoices-edge-asr: WER about 13 % .*by its authors/);
});

test('list measures a model once', async () => {
  await svcModels('list');
  const path = join(models, '.measured');
  const measured: Record<string, { streams: number }> = JSON.parse(await readFile(path, 'utf8'));
  const changed = { demo: { ...measured['demo'], streams: 7 } };
  await writeFile(path, JSON.stringify(changed));
  said = [];
  await svcModels('list');
  expect(said.join('\n')).toMatch(/demo .* 7 +svc-asr/);
});

test('try prints the text, the time per audio second, the streams a core and the memory', async () => {
  const { model, expected } = speech('dholuo-1');
  expect(model).toBe(DHOLUO);
  await svcModels('try', 'demo', join(MODELS, 'fixtures/dholuo-1.wav'), '--language', 'luo');
  expect(said[0]).toBe(`text     ${expected}`);
  expect(said[1]).toMatch(/^time {5}[\d.e-]+ s per second of audio/);
  expect(said[2]).toMatch(/^streams {2}\d+/);
  expect(said[3]).toMatch(/^memory {3}\d+ MB$/);
});

test.each([
  ['model.json', 'is not a WAV file'],
  ['nothing.wav', 'cannot be read'],
])('try refuses %s', async (file, sentence) => {
  await expect(svcModels('try', 'demo', join(models, 'demo', file))).rejects.toThrow(sentence);
});

test('every model of the catalogue covers both languages and names the source of its figures', async () => {
  for (const entry of await readCatalogue()) {
    expect(entry.languages).toEqual(['kik', 'luo']);
    expect(entry.published).not.toEqual([]);
    expect(entry.licence).toBe('Apache-2.0');
  }
});

test('labels as pyctcdecode takes them become tokens', () => {
  const text = tokensOfLabels(JSON.stringify(['', '', '', '', ' ', 'a', '\n', 'ĩ']));
  const lines = ['<blk> 0', '<unused> 1', '<unused> 2', '<unused> 3', '  4', 'a 5', '<unused> 6'];
  expect(text).toBe(`${lines.join('\n')}\nĩ 7\n`);
  expect(pruneTokens(text).kept).toBe(3);
  expect(() => tokensOfLabels('{"a":1}')).toThrow('must be a list of texts');
});

test('labels of other scripts are pruned, those of both languages and the special ones stay', () => {
  const published = ['<s>', '<pad>', '</s>', '<unk>', ' ', "'", 'a', 'ĩ', 'ж', '中', 'é', 'B'];
  const pruned = pruneTokens(published.map((token, at) => `${token} ${at}\n`).join(''));
  expect(pruned).toMatchObject({ kept: 4, of: 12 });
  expect(pruned.text.split('\n').slice(4, 12)).toEqual([
    '  4',
    "' 5",
    'a 6',
    'ĩ 7',
    '<unused> 8',
    '<unused> 9',
    '<unused> 10',
    '<unused> 11',
  ]);
});

test.each([
  [['fetch'], "missing required argument 'name'"],
  [['fetch', 'nothing'], 'There is no nothing in the catalogue'],
  [['import', 'nemo', 'x.nemo'], "required option '--name <name>' not specified"],
  [['compare', 'demo'], "required option '--folder <dir>' not specified"],
  [['use', 'demo', '--for', 'sw'], 'Allowed choices are ki, luo'],
  [['dance'], "unknown command 'dance'"],
  [['list', '--colour'], 'colour'],
])('%j fails with a message that says what is wrong', async (args, sentence) => {
  await expect(svcModels(...args)).rejects.toThrow(sentence);
});
