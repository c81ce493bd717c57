import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CtcRecogniser, loadManifests, startSherpaEngine } from '@svc-asr/engine';
import { startService } from '@svc-asr/testing/service/service.ts';
import { framed, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { STAND_IN_DIR } from '@svc-asr/testing/speech/stand-in.ts';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Problem } from '../src/problem.ts';
import { run } from '../src/program.ts';
import { quantise, signedIsExact } from '../src/quantise.ts';
import { serveFiles, type FileServer } from './file-server.ts';

/** The published layouts: single files on a model hub, and a .tar.bz2 of a release. */
const HUB = '/someone/sherpa-onnx-stand-in-ctc-int8/resolve/6abf1ec';
const ROOT_FOLDER = 'sherpa-onnx-stand-in-ctc-int8';
const ARCHIVE = `/releases/download/asr-models/${ROOT_FOLDER}.tar.bz2`;
const published = new Map<string, Buffer>();
let files = new Map<string, Buffer>();
let folder = '';
let models = '';
let server: FileServer;
let said: string[] = [];

beforeAll(publish);
beforeEach(async () => {
  said = [];
  folder = await mkdtemp(join(tmpdir(), 'fetch-'));
  models = join(folder, 'models');
  await mkdir(models);
  files = new Map(published);
  server = await serveFiles(files);
  await writeFile(join(folder, 'catalogue.json'), JSON.stringify([hubEntry(), archiveEntry()]));
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

async function publish(): Promise<void> {
  const model = await readFile(join(STAND_IN_DIR, 'model.onnx'));
  const tokens = await readFile(join(STAND_IN_DIR, 'tokens.txt'));
  published.set(`${HUB}/model.int8.onnx`, model);
  published.set(`${HUB}/tokens.txt`, tokens);
  published.set(`${HUB}/LICENSE`, Buffer.from('a licence'));
  const source = await mkdtemp(join(tmpdir(), 'published-'));
  const inside = join(source, ROOT_FOLDER);
  await mkdir(inside);
  await cp(join(STAND_IN_DIR, 'model.onnx'), join(inside, 'model.int8.onnx'));
  await writeFile(join(inside, 'tokens.txt'), tokens);
  await writeFile(join(inside, 'README.md'), 'published');
  const archive = join(source, 'archive.tar.bz2');
  await promisify(execFile)('tar', ['-cjf', archive, '-C', source, ROOT_FOLDER]);
  published.set(ARCHIVE, await readFile(archive));
  await rm(source, { recursive: true });
}

const entry = {
  about: 'A stand-in',
  kind: 'offline_ctc',
  licence: 'Apache-2.0',
  licence_url: 'https://example.org/licence',
  made_by: 'this project',
  languages: ['kik', 'luo'],
  published: ['none'],
  notes: 'For tests.',
};

function remote(path: string) {
  const bytes = published.get(path) ?? Buffer.alloc(0);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { url: `${server.url}${path}`, bytes: bytes.length, sha256 };
}

function hubEntry() {
  const listed = [
    { as: 'model.onnx', ...remote(`${HUB}/model.int8.onnx`) },
    { as: 'tokens.txt', ...remote(`${HUB}/tokens.txt`) },
    { as: 'LICENSE', ...remote(`${HUB}/LICENSE`) },
  ];
  return { name: 'stand-in', ...entry, files: listed };
}

function archiveEntry() {
  const members = { 'model.onnx': 'model.int8.onnx', 'tokens.txt': 'tokens.txt' };
  const archive = { ...remote(ARCHIVE), folder: ROOT_FOLDER, members };
  return { name: 'stand-in-archive', ...entry, archive };
}

function svcModels(answer: string | null, ...args: string[]): Promise<number> {
  const terminal = {
    say: (line: string) => void said.push(line),
    show: () => {},
    ask: answer === null ? null : () => Promise.resolve(answer),
  };
  const places = ['--models', models, '--catalogue', join(folder, 'catalogue.json')];
  return run([...args, ...places], terminal);
}

test('a model is fetched, licensed, used and streamed end to end through the service', async () => {
  expect(await svcModels('yes', 'fetch', 'stand-in')).toBe(0);
  expect(said.join('\n')).toContain('Apache-2.0 (https://example.org/licence)');
  const stored = (await signedIsExact()) ? 'signed ones' : 'neither VNNI nor AMX';
  expect(said.join('\n')).toContain(stored);
  expect(await svcModels(null, 'use', 'stand-in')).toBe(0);
  const engine = await startSherpaEngine({ modelsDir: models, children: 1, slotsPerChild: 4 });
  const service = await startService({ creditMs: 60_000, parts: { engine } });
  try {
    const { model, pcm, expected } = speech('kikuyu-1');
    const { body: session } = await service.createSession({ model, max_audio_seconds: 20 });
    const client = await StreamClient.ready({ ...session, websocket_url: service.streamUrl });
    for (const frame of framed(Buffer.from(pcm))) client.send(frame);
    const { text } = await client.flush();
    const heard = text.split(' ');
    const right = expected.split(' ').filter((word) => heard.includes(word));
    expect(right.length).toBeGreaterThan(expected.split(' ').length / 2);
    expect(await client.close()).toMatchObject({ code: 1000 });
  } finally {
    await service.stop();
    await engine.close();
  }
});

test('an archive of a release gives the same model', async () => {
  await svcModels(null, 'fetch', 'stand-in-archive', '--accept-licence');
  await svcModels(null, 'use', 'stand-in-archive');
  const manifests = await loadManifests(models);
  expect(manifests.get('svc-asr-dholuo-v1')).toMatchObject({
    kind: 'offline_ctc',
    build: 'stand-in-archive',
    licence: 'Apache-2.0',
  });
  expect((await readdir(join(models, 'stand-in-archive'))).toSorted()).toEqual([
    'model.json',
    'model.onnx',
    'tokens.txt',
  ]);
});

test('file: in a catalogue names files beside it, which are held to their hashes too', async () => {
  await mkdir(join(folder, 'mirror'));
  for (const name of ['model.onnx', 'tokens.txt']) {
    await cp(join(STAND_IN_DIR, name), join(folder, 'mirror', name));
  }
  const listed = hubEntry().files.slice(0, 2);
  const local = listed.map((file) => ({ ...file, url: `file:mirror/${file.as}` }));
  await writeFile(
    join(folder, 'catalogue.json'),
    JSON.stringify([{ ...hubEntry(), files: local }]),
  );
  await svcModels('yes', 'fetch', 'stand-in', '--use', '--as-published');
  expect((await loadManifests(models)).get('svc-asr-dholuo-v1')?.build).toBe('stand-in');
  expect(server.asked).toEqual([]);
  await writeFile(join(folder, 'mirror/tokens.txt'), 'others');
  await expect(svcModels('yes', 'fetch', 'stand-in')).rejects.toThrow('expected is');
});

test('unsigned 8-bit weights become signed ones; --as-published keeps them', async () => {
  const downloaded = await readFile(join(STAND_IN_DIR, 'model.onnx'));
  await svcModels('yes', 'fetch', 'stand-in', '--as-published');
  const path = join(models, 'stand-in/model.onnx');
  expect((await readFile(path)).equals(downloaded)).toBe(true);
  expect(await quantise(path, { isExact: false })).toContain('neither VNNI nor AMX');
  expect((await readFile(path)).equals(downloaded)).toBe(true);
  expect(await quantise(path, { isExact: true })).toContain('70 unsigned 8-bit matrices');
  expect((await readFile(path)).equals(downloaded)).toBe(false);
  expect(await quantise(path, { isExact: true })).toContain('they are signed 8-bit weights');
  await CtcRecogniser.load({ model: path, tokens: join(models, 'stand-in/tokens.txt') });
});

test.each([
  ['no', 'Nothing was downloaded'],
  [null, 'add --accept-licence'],
])('with the answer %j nothing is downloaded', async (answer, sentence) => {
  await expect(svcModels(answer, 'fetch', 'stand-in')).rejects.toThrow(sentence);
  expect(server.asked).toEqual([]);
  expect(await readdir(models)).toEqual([]);
});

test('nothing is downloaded if the disk has no room for it', async () => {
  const huge = archive({ bytes: 1e15 });
  await writeFile(join(folder, 'catalogue.json'), JSON.stringify([huge]));
  const fetched = svcModels(null, 'fetch', 'stand-in-archive', '--accept-licence');
  await expect(fetched).rejects.toThrow('stand-in-archive needs 2,000,000,000 MB');
  expect(server.asked).toEqual([]);
});

test('a file that was changed at the source is refused, and nothing is installed', async () => {
  files.set(`${HUB}/model.int8.onnx`, Buffer.alloc(hubEntry().files[0]?.bytes ?? 0));
  await expect(svcModels('yes', 'fetch', 'stand-in')).rejects.toThrow('expected is');
  expect(await readdir(models)).toEqual(['.downloads']);
  await svcModels(null, 'list');
  expect(said.join('\n')).not.toMatch(/^stand-in +offline_ctc/m);
});

const fetchStandIn = (...args: string[]): Promise<number> =>
  svcModels('yes', 'fetch', 'stand-in', ...args);

describe('a file without a hash in the catalogue', () => {
  const MODEL = `${HUB}/model.int8.onnx`;
  const hash = (): string => remote(MODEL).sha256;
  beforeEach(async () => {
    const [model, ...others] = hubEntry().files;
    const { sha256: _, ...unhashed } = { ...model, sha256: '', bytes: 2 * (model?.bytes ?? 0) };
    const listed = [{ ...hubEntry(), files: [unhashed, ...others] }];
    await writeFile(join(folder, 'catalogue.json'), JSON.stringify(listed));
  });

  test('is not downloaded without --sha256 or --trust-first-download', async () => {
    await expect(fetchStandIn()).rejects.toThrow('add --sha256 model.onnx=HEX');
    expect(server.asked).toEqual([]);
  });

  test('is held to the hash that was given, and to it from then on', async () => {
    await expect(fetchStandIn('--sha256', `model.onnx=${'0'.repeat(64)}`)).rejects.toThrow(
      'expected is 000',
    );
    await fetchStandIn('--sha256', `model.onnx=${hash()}`);
    await loadModelAgain();
  });

  test('is pinned at the first download; another one is refused', async () => {
    await fetchStandIn('--trust-first-download');
    expect(said.join('\n')).toContain(`sha256 ${hash()}`);
    await loadModelAgain();
  });

  /** The pin is enough for the same file, and refuses another one even with --trust-first-download. */
  async function loadModelAgain(): Promise<void> {
    await fetchStandIn();
    await svcModels(null, 'use', 'stand-in');
    files.set(MODEL, Buffer.from('another model'));
    await expect(fetchStandIn('--trust-first-download')).rejects.toThrow(`expected is ${hash()}`);
    await loadManifests(models);
  }

  test('may not be larger than the catalogue says', async () => {
    files.set(MODEL, Buffer.alloc(2 * remote(MODEL).bytes + 1));
    await expect(fetchStandIn('--trust-first-download')).rejects.toThrow('is longer than');
  });

  test.each([
    ['model.onnx=12', 'use FILE=HEX with 64 hex digits'],
    [`tokens.txt=${'0'.repeat(64)}`, 'only for files without a hash: model.onnx'],
  ])('--sha256 %s is refused', async (pair, sentence) => {
    await expect(fetchStandIn('--sha256', pair)).rejects.toThrow(sentence);
    expect(server.asked).toEqual([]);
  });

  test('is downloaded again after the connection broke', async () => {
    server.breakAfter(1_000, () => Promise.resolve());
    await fetchStandIn('--trust-first-download');
    expect(said.join('\n')).toContain(`sha256 ${hash()}`);
  });
});

function archive(change: object) {
  return { ...archiveEntry(), archive: { ...archiveEntry().archive, ...change } };
}

describe('a hostile catalogue', () => {
  const attacks = {
    'runs a command through tar': () =>
      archive({
        folder: '--to-command=touch ',
        members: { 'model.onnx': join(folder, 'escaped').slice(1) },
      }),
    'unpacks outside': () => archive({ folder: '../..' }),
    'names a member outside': () => archive({ members: { 'model.onnx': '../../escaped' } }),
    'writes a member outside': () => archive({ members: { '../../escaped': 'tokens.txt' } }),
    'writes a file outside': () => ({
      ...hubEntry(),
      name: 'stand-in-archive',
      files: [{ ...hubEntry().files[1], as: '../../escaped' }],
    }),
    'copies a file of this machine': () => archive({ url: 'file:/etc/passwd' }),
    'copies a file above its folder': () => archive({ url: 'file:../secret' }),
    'names no repository': () => ({ ...archiveEntry(), hub: 'https://example.org' }),
    'hides a part of the licence': () => ({ ...archiveEntry(), licence: 'MIT\u001B[2K\u001B[1A' }),
  };

  test.each(Object.entries(attacks))(
    'that %s is refused before anything is downloaded',
    async (_, entryOf) => {
      await writeFile(join(folder, 'catalogue.json'), JSON.stringify([entryOf()]));
      const fetched = svcModels(null, 'fetch', 'stand-in-archive', '--accept-licence');
      await expect(fetched).rejects.toThrow(Problem);
      expect(server.asked).toEqual([]);
      expect((await readdir(folder)).toSorted()).toEqual(['catalogue.json', 'models']);
    },
  );

  test('whose archive has a link in place of a file is refused, and the target is untouched', async () => {
    const source = await mkdtemp(join(folder, 'source-'));
    const target = join(folder, 'precious.txt');
    await writeFile(target, await readFile(join(STAND_IN_DIR, 'tokens.txt')));
    await mkdir(join(source, ROOT_FOLDER));
    await cp(join(STAND_IN_DIR, 'model.onnx'), join(source, ROOT_FOLDER, 'model.int8.onnx'));
    await symlink(target, join(source, ROOT_FOLDER, 'tokens.txt'));
    await promisify(execFile)('tar', ['-cjf', join(source, 'a'), '-C', source, ROOT_FOLDER]);
    const bytes = await readFile(join(source, 'a'));
    files.set(ARCHIVE, bytes);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const linked = archive({ bytes: bytes.length, sha256 });
    await writeFile(join(folder, 'catalogue.json'), JSON.stringify([linked]));
    const before = await readFile(target, 'utf8');
    const fetched = svcModels(null, 'fetch', 'stand-in-archive', '--accept-licence');
    await expect(fetched).rejects.toThrow('tokens.txt is not a plain file');
    expect(await readFile(target, 'utf8')).toBe(before);
  });
});
