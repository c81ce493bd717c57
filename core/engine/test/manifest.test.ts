import { createHash } from 'node:crypto';
import { mkdtemp, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { loadManifests, ManifestError } from '../src/weights/load-manifests.ts';

const KIKUYU = 'svc-asr-kikuyu-v1';
const DHOLUO = 'svc-asr-dholuo-v1';
const TOKENS = '▁ 0\na 1\nĩ 2\n<blk> 3\n';
const METADATA = {
  vocab_size: '3',
  window_size: '121',
  chunk_shift: '112',
  subsampling_factor: '8',
  cache_last_channel_dim1: '6',
  cache_last_channel_dim2: '56',
  cache_last_channel_dim3: '192',
  cache_last_time_dim1: '6',
  cache_last_time_dim2: '192',
  cache_last_time_dim3: '8',
  pred_rnn_layers: '1',
  pred_hidden: '160',
  prompt_dictionary: '{"ki-KE": 0, "luo-KE": 1}',
};

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

test('reads one manifest per model id, with shared weights', async () => {
  const models = await loadManifests(await modelsDirectory());
  expect([...models.keys()]).toEqual([KIKUYU, DHOLUO]);
  const kikuyu = models.get(KIKUYU);
  expect(kikuyu).toMatchObject({
    build: 'test-1',
    language: 'ki-KE',
    chunkSamples: 17_920,
    contextSize: [56, 13],
  });
  expect(kikuyu?.files).toEqual(models.get(DHOLUO)?.files);
});

test('the lead-in in the manifest is optional', async () => {
  const changed = await loadManifests(
    await modelsDirectory({ change: (m) => ({ ...m, extra_lead_in_ms: 160 }) }),
  );
  expect(changed.get(KIKUYU)).toMatchObject({ kind: 'transducer', extraLeadInMs: 160 });
  const plain = await loadManifests(await modelsDirectory());
  expect(plain.get(KIKUYU)).toMatchObject({ extraLeadInMs: 0 });
});

test('hashes ONNX external data', async () => {
  const models = await loadManifests(await modelsDirectory({ extraFile: 'encoder_data' }));
  expect(models.get(KIKUYU)?.kind).toBe('transducer');
});

test('a symlink that leaves the models directory is refused, one that stays inside is not', async () => {
  const folder = await modelsDirectory();
  const joiner = join(folder, 'demo/joiner.onnx');
  await rename(joiner, join(folder, 'joiner-1.onnx'));
  await symlink('../joiner-1.onnx', joiner);
  expect((await loadManifests(folder)).size).toBe(2);

  const outside = await modelsDirectory();
  await rm(joiner);
  await symlink(join(outside, 'demo/joiner.onnx'), joiner);
  await expect(loadManifests(folder)).rejects.toThrow(
    'files.joiner leaves the models directory: demo/joiner.onnx',
  );

  await rm(join(outside, `${KIKUYU}.json`));
  await symlink(join(await modelsDirectory(), `${KIKUYU}.json`), join(outside, `${KIKUYU}.json`));
  await expect(loadManifests(outside)).rejects.toThrow('the manifest leaves the models directory');
});

test('a models directory may itself be a symlink', async () => {
  const link = join(await modelsDirectory(), 'link');
  await symlink(await modelsDirectory(), link);
  expect((await loadManifests(link)).size).toBe(2);
});

test('names a missing models directory', async () => {
  const error = await loadManifests('/nowhere/models').catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ManifestError);
  expect(String(error)).toContain('/nowhere/models');
});

test('reports every problem of every manifest at once', async () => {
  const problems = await problemsOf({
    change: (manifest) => ({ ...manifest, sample_rate: 8000, build: ' ' }),
    tokens: 'a 0\n<blk> 1\n',
  });
  expect(problems).toHaveLength(6);
});

const WRONG: readonly [string, Parameters<typeof modelsDirectory>[0], RegExp][] = [
  ['a missing manifest', { omit: DHOLUO }, /dholuo-v1\.json: the manifest is missing/],
  ['a manifest that is not JSON', { text: '{"id":' }, /not valid JSON/],
  ['a manifest that is not an object', { text: '[]' }, /must be a JSON object/],
  ['a manifest for an unknown id', { extraManifest: 'svc-asr-luo.json' }, /no such model id/],
  ['an unknown field', { change: (m) => ({ ...m, chunk: 1 }) }, /unknown field chunk/],
  ['a missing field', { change: (m) => without(m, 'licence') }, /licence is missing/],
  ["another model's id", { change: (m) => ({ ...m, id: 'x' }) }, /id must be svc-asr/],
  ['another sample rate', { change: (m) => ({ ...m, sample_rate: 8000 }) }, /must be 16000/],
  ['a wrong chunk', { change: (m) => ({ ...m, chunk_samples: 16_000 }) }, /must be 17920/],
  ['a wrong context', { change: (m) => ({ ...m, context_size: [56] }) }, /two whole numbers/],
  ['files that are not a list', { change: (m) => ({ ...m, files: 'demo' }) }, /files must name/],
  ['a file entry without hash', { entry: { path: 'demo/joiner.onnx' } }, /files\.joiner must be/],
  ['an unknown file entry', { extraFile: 'bpe' }, /unknown entry bpe/],
  ['a file outside', { entry: { path: '../joiner', sha256: '' } }, /leaves the models directory/],
  [
    'a missing file',
    { entry: { path: 'demo/no.onnx', sha256: '' } },
    /joiner is missing: demo\/no/,
  ],
  [
    'a changed file',
    { entry: { path: 'demo/joiner.onnx', sha256: '00' } },
    /has sha256 [0-9a-f]{64}/,
  ],
  ['tokens with the blank first', { tokens: '<blk> 0\na 1\nĩ 2\nb 3\n' }, /must be the last token/],
  ['tokens out of order', { tokens: 'a 0\nb 2\n<blk> 3\n' }, /line 2 must be/],
  ['an encoder that is not ONNX', { encoder: Buffer.from('hello') }, /not an ONNX file/],
  [
    'a missing metadata key',
    { metadata: { pred_hidden: '' } },
    /lacks the whole number pred_hidden/,
  ],
  ['another left context', { metadata: { cache_last_channel_dim2: '70' } }, /left context is 56/],
  ['another chunk', { metadata: { chunk_shift: '56' } }, /chunk_shift 56 .* is 112/],
  ['another subsampling', { metadata: { subsampling_factor: '4' } }, /subsampling_factor 4/],
  ['another vocabulary', { metadata: { vocab_size: '30' } }, /vocab_size 30 .* is 3/],
  ['prompts that are not JSON', { metadata: { prompt_dictionary: 'ki' } }, /not a JSON object/],
  [
    'a step of a transducer',
    { change: (m) => ({ ...m, step_ms: 2_240 }) },
    /step_ms is for offline CTC models/,
  ],
  [
    'an unknown step',
    { change: (m) => ({ ...m, kind: 'offline_ctc', step_ms: 3_000 }) },
    /step_ms must be 1120 or 2240/,
  ],
  [
    'a lead-in that is too long',
    { change: (m) => ({ ...m, extra_lead_in_ms: 900 }) },
    /extra_lead_in_ms must be a whole number from 0 to 560/,
  ],
  ['an unknown kind', { change: (m) => ({ ...m, kind: 'whisper' }) }, /kind must be transducer or/],
  [
    'an offline CTC model without its file',
    { change: (m) => ({ ...m, kind: 'offline_ctc' }) },
    /files\.model must be/,
  ],
  [
    'external data of another import',
    { extraFile: 'encoder_data', dataHash: '00' },
    /encoder_data/,
  ],
  ['an unknown language', { metadata: { prompt_dictionary: '{"en":0}' } }, /trained with: en/],
];

test.each(WRONG)('refuses %s with a helpful message', async (_name, wrong, sentence) => {
  expect((await problemsOf(wrong)).join('\n')).toMatch(sentence);
});

async function problemsOf(
  wrong: Parameters<typeof modelsDirectory>[0],
): Promise<readonly string[]> {
  const error = await loadManifests(await modelsDirectory(wrong)).catch((e: unknown) => e);
  if (!(error instanceof ManifestError)) throw new Error('the manifests were accepted');
  for (const problem of error.problems) expect(error.message).toContain(problem);
  return error.problems;
}

type Json = Record<string, unknown>;

function without(manifest: Json, field: string): Json {
  return Object.fromEntries(Object.entries(manifest).filter(([key]) => key !== field));
}

/** A small models directory that is valid except for the changes in `wrong`. */
async function modelsDirectory(
  wrong: {
    omit?: string;
    text?: string;
    extraManifest?: string;
    extraFile?: string;
    dataHash?: string;
    change?: (manifest: Json) => Json;
    entry?: Json;
    tokens?: string;
    encoder?: Buffer;
    metadata?: Partial<typeof METADATA>;
  } = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'models-'));
  folders.push(folder);
  await mkdir(join(folder, 'demo'));
  const contents = {
    encoder: wrong.encoder ?? onnx({ ...METADATA, ...wrong.metadata }),
    decoder: Buffer.from('decoder'),
    joiner: Buffer.from('joiner'),
    tokens: Buffer.from(wrong.tokens ?? TOKENS),
  };
  const files: Json = {};
  for (const [name, bytes] of Object.entries(contents)) {
    const path = name === 'tokens' ? 'demo/tokens.txt' : `demo/${name}.onnx`;
    await writeFile(join(folder, path), bytes);
    files[name] = { path, sha256: createHash('sha256').update(bytes).digest('hex') };
  }
  if (wrong.entry !== undefined) files['joiner'] = wrong.entry;
  if (wrong.extraFile !== undefined) files[wrong.extraFile] = files['joiner'];
  if (wrong.dataHash !== undefined) {
    files['encoder_data'] = { path: 'demo/joiner.onnx', sha256: wrong.dataHash };
  }
  for (const [id, language] of [[KIKUYU, 'ki-KE'] as const, [DHOLUO, 'luo-KE'] as const]) {
    if (id === wrong.omit) continue;
    const manifest: Json = {
      id,
      build: 'test-1',
      language,
      sample_rate: 16_000,
      chunk_samples: 17_920,
      context_size: [56, 13],
      normaliser: 'kikuyu-dholuo-1',
      licence: 'CC-BY-SA-4.0',
      files,
    };
    const text = wrong.text ?? JSON.stringify(wrong.change?.(manifest) ?? manifest);
    await writeFile(join(folder, `${id}.json`), text);
  }
  if (wrong.extraManifest !== undefined) await writeFile(join(folder, wrong.extraManifest), '{}');
  return folder;
}

/** An ONNX file with an ir_version, an empty graph and metadata; an empty value leaves the key out. */
function onnx(metadata: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(metadata).filter(([, value]) => value !== '');
  const props = entries.map(([key, value]) =>
    delimited(
      14,
      Buffer.concat([delimited(1, Buffer.from(key)), delimited(2, Buffer.from(value))]),
    ),
  );
  return Buffer.concat([Buffer.from([8, 7]), delimited(7, Buffer.alloc(300)), ...props]);
}

function delimited(field: number, bytes: Buffer): Buffer {
  const length =
    bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
  return Buffer.concat([Buffer.from([field * 8 + 2, ...length]), bytes]);
}
