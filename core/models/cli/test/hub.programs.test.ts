import { createHash } from 'node:crypto';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { loadManifests } from '@svc-asr/engine';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { STAND_IN_DIR, ZIPFORMER_DIR } from '@svc-asr/testing/speech/stand-in.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { run } from '../src/program.ts';
import { startHub, type HubProcess } from './hub-process.ts';
import type { HubState, LocalRepository } from './local-hub.ts';
import { vocabularyOfStandIn } from './vocabulary.ts';

const KIKUYU = 'svc-asr-kikuyu-v1';
const DHOLUO = 'svc-asr-dholuo-v1';
const COMMIT = '6abf1ece20cd2308bdb7d13cd78ec1c44fa4c094';
const LATER = 'b'.repeat(40);
const FIXTURES = join(import.meta.dirname, '../../fixtures');
const LM_DIR = join(import.meta.dirname, '../../../engine/test/lm');
const CARD = { license: 'apache-2.0', language: ['kik', 'luo'] };
let hub: HubProcess;
let folder = '';
let models = '';
let said: string[] = [];
let repository: LocalRepository;

beforeAll(async () => {
  hub = await startHub({ repositories: {} });
});
afterAll(() => hub.stop());
beforeEach(async () => {
  said = [];
  folder = await mkdtemp(join(tmpdir(), 'hub-'));
  models = join(folder, 'models');
  await mkdir(models);
  vi.stubEnv('HF_ENDPOINT', hub.url);
  vi.stubEnv('HF_TOKEN', '');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

const CTC = {
  'model.int8.onnx': join(STAND_IN_DIR, 'model.onnx'),
  'tokens.txt': join(STAND_IN_DIR, 'tokens.txt'),
  'README.md': Buffer.from('A model.'),
};
const ZIPFORMER = Object.fromEntries([
  ...['encoder', 'decoder', 'joiner'].map((part) => [
    `exp/${part}-epoch-30-avg-9-chunk-16-left-128.onnx`,
    join(ZIPFORMER_DIR, `${part}.onnx`),
  ]),
  ['data/lang_char/tokens.txt', join(ZIPFORMER_DIR, 'tokens.txt')],
]);
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** Publishes files, each a path or its content, as hf:someone/model. */
async function publish(
  files: Readonly<Record<string, string | Buffer>>,
  more: Partial<LocalRepository> = {},
): Promise<void> {
  const source = await mkdtemp(join(folder, 'published-'));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(source, path)), { recursive: true });
    if (typeof content === 'string') await cp(content, join(source, path));
    else await writeFile(join(source, path), content);
  }
  const [commits, branches] = [{ [COMMIT]: source }, { main: COMMIT }];
  repository = { commits, branches, cardData: CARD, ...more };
  await serve();
}

async function serve(more: Omit<HubState, 'repositories'> = {}): Promise<void> {
  await hub.set({ repositories: { 'someone/model': repository }, ...more });
}

function svcModels(...args: string[]): Promise<number> {
  const terminal = { say: (line: string) => void said.push(line), show: () => {}, ask: null };
  return run([...args, '--models', models], terminal);
}

/** Fetches hf:someone/model, or another address if it comes first. */
function fetchIt(...args: string[]): Promise<number> {
  const [first = ''] = args;
  const named = first.startsWith('hf:') ? args : ['hf:someone/model', ...args];
  return svcModels('fetch', ...named, '--accept-licence', '--as-published');
}

const weights = (): Promise<Buffer> => readFile(join(STAND_IN_DIR, 'model.onnx'));

async function installedSet(name = 'model') {
  const set: Record<string, unknown> = JSON.parse(
    await readFile(join(models, name, 'model.json'), 'utf8'),
  );
  return set;
}

/** Lets an installed model transcribe a recording, and expects half of its words. */
async function hear(name: string): Promise<void> {
  const { expected } = speech('kikuyu-1');
  said = [];
  await svcModels('try', name, join(FIXTURES, 'kikuyu-1.wav'));
  const heard = said[0]?.split(/\s+/) ?? [];
  const right = expected.split(' ').filter((word) => heard.includes(word));
  expect(right.length).toBeGreaterThan(expected.split(' ').length / 2);
}

describe('recognises', () => {
  test('an omniASR export with word models of both languages, and serves it with --use', async () => {
    await publish({
      ...CTC,
      'kenlm/kik_B_3gram.bin': join(LM_DIR, 'words.bin'),
      'kenlm/kik_unigrams.txt': Buffer.from('mwega\nnotinthemodel\n'),
      'kenlm/luo_B_3gram.bin': join(LM_DIR, 'characters.bin'),
      'kenlm/swh_B_4gram.bin': join(LM_DIR, 'words.bin'),
      'step_12750/model.pt': Buffer.from('a checkpoint'),
    });
    await fetchIt('--use');
    const manifests = await loadManifests(models);
    expect(manifests.get(KIKUYU)).toMatchObject({
      build: 'model',
      kind: 'offline_ctc',
      licence: 'apache-2.0',
      decoding: { width: 100, lm: { unit: 'word', alpha: 0.5, beta: 1.5 } },
    });
    expect(manifests.get(DHOLUO)).toMatchObject({
      decoding: { width: 16, lm: { unit: 'character' } },
    });
    expect(await installedSet()).toMatchObject({ source: `hf:someone/model@${COMMIT}` });
    expect((await readdir(join(models, 'model'))).toSorted()).toEqual([
      'lm-ki',
      'lm-luo',
      'model.json',
      'model.onnx',
      'tokens.txt',
      'unigrams-ki',
    ]);
    await hear('model');
  });

  test("wav2vec2 in ONNX with its vocabulary, and pyctcdecode's weights", async () => {
    const tokens = await readFile(join(STAND_IN_DIR, 'tokens.txt'), 'utf8');
    await publish(
      {
        'onnx/model_quantized.onnx': join(STAND_IN_DIR, 'model.onnx'),
        'onnx/model.onnx': Buffer.alloc(200_000),
        'config.json': json({ model_type: 'wav2vec2', architectures: ['Wav2Vec2ForCTC'] }),
        'vocab.json': await vocabularyOfStandIn(),
        'language_model/5gram.bin': join(LM_DIR, 'words.bin'),
        'language_model/unigrams.txt': Buffer.from('mwega\n'),
        'language_model/attrs.json': json({
          alpha: 0.7,
          beta: 1,
          unk_score_offset: -8,
          score_boundary: true,
        }),
      },
      { cardData: { ...CARD, language: 'kik' } },
    );
    await fetchIt('--name', 'wav2vec2', '--use');
    expect(said.join('\n')).toContain(
      'an offline wav2vec2-style CTC model in ONNX with language models',
    );
    expect((await loadManifests(models)).get(KIKUYU)).toMatchObject({
      build: 'wav2vec2',
      decoding: { lm: { alpha: 0.7, beta: 1, unknownOffset: -8 } },
    });
    const lines = (await readFile(join(models, 'wav2vec2/tokens.txt'), 'utf8')).split('\n');
    expect(lines.slice(0, 4)).toEqual(['<blk> 0', '<unused> 1', '<unused> 2', '<unused> 3']);
    expect(lines.slice(4)).toEqual(tokens.split('\n').slice(4));
    await hear('wav2vec2');
  });

  test('a streaming Zipformer in the folders of icefall', async () => {
    await publish(ZIPFORMER);
    await fetchIt('--use');
    expect((await loadManifests(models)).get(KIKUYU)).toMatchObject({
      kind: 'zipformer_transducer',
    });
    await hear('model');
  });

  test('language models alone, and adds them to an installed model', async () => {
    await publish(CTC);
    await fetchIt('--name', 'ctc');
    await publish({ 'kik.arpa': join(LM_DIR, 'words.arpa') });
    await expect(fetchIt()).rejects.toThrow('Add --into NAME');
    await fetchIt('--into', 'ctc', '--use');
    expect((await loadManifests(models)).get(KIKUYU)).toMatchObject({
      build: 'ctc',
      decoding: { lm: { unit: 'word' } },
    });
    await hear('ctc');
  });

  const refused: [string, Record<string, string | Buffer>, string][] = [
    [
      'Whisper',
      { 'config.json': json({ model_type: 'whisper' }), 'model.safetensors': Buffer.from('x') },
      'it is a Whisper model',
    ],
    [
      'an encoder and a decoder alone',
      {
        'encoder.onnx': Buffer.from('x'),
        'decoder.onnx': Buffer.from('x'),
        'tokens.txt': Buffer.from('x'),
      },
      'no joiner',
    ],
    [
      'an architecture of features',
      { ...CTC, 'config.json': json({ model_type: 'wav2vec2-bert' }) },
      'wav2vec2-bert takes features',
    ],
    [
      'PyTorch weights alone',
      { 'config.json': json({ model_type: 'wav2vec2' }), 'model.safetensors': Buffer.from('x') },
      'optimum-cli export onnx --model someone/model',
    ],
    [
      'a model without labels',
      { 'model.onnx': Buffer.from('x') },
      'none of tokens.txt, labels.json, vocab.json',
    ],
    [
      'several models',
      { 'a.onnx': Buffer.from('x'), 'b.onnx': Buffer.from('x'), 'tokens.txt': Buffer.from('x') },
      'a.onnx, b.onnx. Choose with --file PATH',
    ],
    ['a repository of pictures', { 'cat.png': Buffer.from('x') }, 'it has no ONNX export'],
    [
      'a file that is not an ONNX model',
      { ...CTC, 'model.int8.onnx': Buffer.from('x') },
      'is not an ONNX file',
    ],
    [
      'capital letters',
      { ...CTC, 'tokens.txt': Buffer.from('<blk> 0\nA 1\n') },
      'Only 0 of its 2 labels',
    ],
    [
      'an archive in place of weights',
      { 'model.tar.bz2': Buffer.from('x') },
      'it has no ONNX export',
    ],
  ];
  test.each(refused)('%s, and refuses it with the reason', async (_, files, reason) => {
    await publish(files);
    await expect(fetchIt()).rejects.toThrow(reason);
    expect((await readdir(models)).filter((name) => name !== '.downloads')).toEqual([]);
  });

  test('a Zipformer that is not streaming, and refuses it with what would be needed', async () => {
    const encoder = await readFile(join(ZIPFORMER_DIR, 'encoder.onnx'));
    encoder.write('xecode_chunk_len', encoder.indexOf('decode_chunk_len'));
    await publish({ ...ZIPFORMER, 'exp/encoder-epoch-30-avg-9-chunk-16-left-128.onnx': encoder });
    await expect(fetchIt()).rejects.toThrow('export-onnx-streaming.py');
  });
});

describe('says before the download', () => {
  test('the files, sizes, licence, commit and published error rates', async () => {
    const metrics = [{ type: 'wer', value: 29.1 }];
    const modelIndex = [{ results: [{ dataset: { name: 'FLEURS\u001B[2K luo' }, metrics }] }];
    await publish(CTC, { modelIndex });
    await expect(svcModels('fetch', 'hf:someone/model')).rejects.toThrow('add --accept-licence');
    const text = said.join('\n');
    expect(text).toMatch(/source +hf:someone\/model@6abf1ece/);
    expect(text).toMatch(/file +model\.onnx +\d+ MB/);
    expect(text).toContain('WER 29.1 on FLEURS[2K luo, by its card');
    expect((await hub.requests()).filter(({ path }) => path.includes('/resolve/'))).toEqual([]);
  });

  test('that a licence forbids commercial use', async () => {
    await publish(CTC, { cardData: { license: 'cc-by-nc-4.0' } });
    await expect(svcModels('fetch', 'hf:someone/model')).rejects.toThrow('add --accept-licence');
    expect(said).toContain('  WARNING    this licence forbids commercial use');
  });

  test('that a repository claims to have more than a model', async () => {
    const listed = [
      { type: 'file', path: 'model.int8.onnx', size: 1e11, lfs: { oid: '0'.repeat(64) } },
    ];
    await publish({ 'tokens.txt': Buffer.from('<blk> 0\n') }, { listed });
    await expect(fetchIt()).rejects.toThrow('100 GB. The most is 20 GB');
  });
});

describe('a hub', () => {
  beforeEach(() => publish(CTC));

  test.each([
    ['hf:someone/nothing', 'It does not exist, or it is private'],
    ['hf:someone/model@v9', 'It has no such branch, tag or commit'],
    ['hf:someone', 'Use hf:OWNER/NAME'],
    ['hf:../../etc/model', 'Use hf:OWNER/NAME'],
  ])('that has no %s', async (address, sentence) => {
    await expect(fetchIt(address)).rejects.toThrow(sentence);
  });

  test('that is gated is asked with a token, which only the hub gets', async () => {
    repository = { ...repository, gated: 'manual', letIn: ['hf_let_in'] };
    await serve();
    await expect(fetchIt()).rejects.toThrow(/gated: accept its conditions at .*someone\/model/);
    vi.stubEnv('HF_TOKEN', 'hf_other');
    await expect(fetchIt()).rejects.toThrow(/answered 403. Its author has to let you in/);
    vi.stubEnv('HF_TOKEN', 'hf_let_in');
    await serve();
    await fetchIt();
    const asked = await hub.requests();
    expect(
      asked.filter(({ server }) => server === 'network').map((one) => one.authorization),
    ).toEqual([undefined]);
    expect(
      new Set(asked.filter(({ server }) => server === 'hub').map((one) => one.authorization)),
    ).toEqual(new Set(['Bearer hf_let_in']));
    const written = await readdir(models, { recursive: true });
    expect(written).toContain('model/model.json');
    expect(await readFile(join(models, 'model/model.json'), 'utf8')).not.toContain('hf_let_in');
  });

  test('that would get a token over http is refused', async () => {
    vi.stubEnv('HF_TOKEN', 'hf_let_in');
    vi.stubEnv('HF_ENDPOINT', 'http://hub.example.org');
    await expect(fetchIt()).rejects.toThrow('HF_TOKEN is only sent over https');
  });

  test('whose branch moves gives all files of the commit that was looked up', async () => {
    await fetchIt();
    const changed = await mkdtemp(join(folder, 'later-'));
    await cp(repository.commits[COMMIT] ?? '', changed, { recursive: true });
    await writeFile(join(changed, 'README.md'), 'Another card.');
    repository = {
      ...repository,
      commits: { ...repository.commits, [LATER]: changed },
      branches: { main: LATER },
    };
    await serve();
    await fetchIt('--name', 'later');
    expect(await installedSet('later')).toMatchObject({ source: `hf:someone/model@${LATER}` });
    const asked = (await hub.requests()).filter(({ path }) => path.includes('/resolve/'));
    expect(asked.every(({ path }) => path.includes(LATER))).toBe(true);
    await fetchIt(`hf:someone/model@${COMMIT}`);
    expect(await installedSet()).toMatchObject({ source: `hf:someone/model@${COMMIT}` });
  });

  test('that breaks the connection at 60 % is asked for the rest', async () => {
    await serve({ cutAt: 0.6 });
    await fetchIt();
    const large = (await hub.requests()).filter(({ server }) => server === 'network');
    expect(large).toHaveLength(2);
    const from = Number(large[1]?.range?.slice('bytes='.length, -1));
    expect(from).toBeGreaterThan(0);
    expect(from).toBeLessThanOrEqual(0.6 * (await weights()).length);
    expect((await weights()).equals(await readFile(join(models, 'model/model.onnx')))).toBe(true);
  });

  test('is asked by one of two runs at once; the other says so', async () => {
    const runs = await Promise.allSettled([fetchIt(), fetchIt()]);
    expect(runs.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const refused = runs.find((run) => run.status === 'rejected');
    expect(String(refused?.reason)).toContain('Another svc-models is fetching model.');
    const large = (await hub.requests()).filter(({ server }) => server === 'network');
    expect(large).toHaveLength(1);
    await fetchIt();
  });

  test('is asked for the rest after an interrupted run, even if the branch has moved', async () => {
    const sha256 = createHash('sha256')
      .update(await weights())
      .digest('hex');
    await mkdir(join(models, '.downloads/model'), { recursive: true });
    await writeFile(
      join(models, '.downloads/model', `${sha256}.part`),
      (await weights()).subarray(0, 1_000_000),
    );
    await fetchIt();
    const large = (await hub.requests()).find(({ server }) => server === 'network');
    expect(large?.range).toBe('bytes=1000000-');
    expect((await weights()).equals(await readFile(join(models, 'model/model.onnx')))).toBe(true);
  });

  test.each([
    [{ changed: 'model.int8.onnx' }, 'expected is'],
    [{ changed: 'tokens.txt' }, "has Git's hash"],
    [{ page: 'tokens.txt' }, 'answered with a web page instead of the file'],
  ])('that sends something else (%j) installs nothing', async (fault, sentence) => {
    await serve(fault);
    await expect(fetchIt()).rejects.toThrow(sentence);
    expect(await readdir(models)).toEqual(['.downloads']);
  });

  test('and a full disk: it says so, and the next run resumes', async () => {
    const sha256 = createHash('sha256')
      .update(await weights())
      .digest('hex');
    const part = join(models, '.downloads/model', `${sha256}.part`);
    await mkdir(dirname(part), { recursive: true });
    await symlink('/dev/full', part);
    await expect(fetchIt()).rejects.toThrow('The disk is full');
    await rm(part);
    await fetchIt();
    expect((await stat(join(models, 'model/model.onnx'))).size).toBe((await weights()).length);
  });

  test.each([
    '../../escaped.onnx',
    'a/../../escaped.onnx',
    '/etc/passwd',
    'a\u001B[1A.onnx',
    '..\\escaped',
  ])('that lists %j is refused', async (path) => {
    const listed = [{ type: 'file', path, size: 1, oid: 'a'.repeat(40) }];
    await publish(CTC, { listed });
    await expect(fetchIt()).rejects.toThrow('a name that leads elsewhere');
    expect(await readdir(models)).toEqual([]);
  });

  test('that redirects from https to http is refused', async () => {
    const { cert, certFile, keyFile } = await makeCertificate();
    setDefaultCACertificates([...getCACertificates(), cert.toString()]);
    const secure = await startHub(
      { repositories: { 'someone/model': repository } },
      { CERT_FILE: certFile, KEY_FILE: keyFile },
    );
    try {
      vi.stubEnv('HF_ENDPOINT', secure.url);
      await expect(fetchIt()).rejects.toThrow(/redirects from https to http:.*: refused/);
    } finally {
      await secure.stop();
    }
  });
});
