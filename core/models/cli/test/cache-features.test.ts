import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CtcEncoder } from '@svc-asr/engine';
import { delimited, varint } from '@svc-asr/engine/protobuf.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cacheFeatures } from '../src/graph/cache-features.ts';

const KERNEL = 400;
const STRIDE = 320;
const CHANNELS = 6;
const LABELS = 5;

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'features-'));
});
afterEach(() => rm(folder, { recursive: true }));

const bytes = (text: string): Uint8Array => Buffer.from(text);
const number = (field: number, value: number) => [varint(field * 8), varint(value)];
const numbers = (field: number, values: readonly number[]) =>
  values.flatMap((value) => number(field, value));
const named = (field: number, names: readonly string[]) =>
  names.flatMap((name) => delimited(field, [bytes(name)]));

/** A node, with attributes of whole numbers. */
function node(
  type: string,
  [inputs, output]: readonly [readonly string[], string],
  attributes: Readonly<Record<string, number | readonly number[]>> = {},
): Uint8Array[] {
  const fields = Object.entries(attributes).flatMap(([name, value]) => {
    const one = typeof value === 'number';
    const content = one ? number(3, value) : numbers(8, value);
    return delimited(5, [...named(1, [name]), ...content, ...number(20, one ? 2 : 7)]);
  });
  return delimited(1, [...named(1, inputs), ...named(2, [output]), ...named(4, [type]), ...fields]);
}

function tensor(name: string, dims: readonly number[], scale = 1): Uint8Array[] {
  const count = dims.reduce((product, one) => product * one, 1);
  const values = Float32Array.from({ length: count }, (_, at) => scale * Math.sin(at * at + 1));
  const raw = new Uint8Array(values.buffer);
  return delimited(5, [
    ...numbers(1, dims),
    ...number(2, 1),
    ...named(8, [name]),
    ...delimited(9, [raw]),
  ]);
}

function value(field: number, name: string, rank: number): Uint8Array[] {
  const shape = Array.from({ length: rank }, (_, at) => delimited(1, named(2, [`${name}${at}`])));
  const type = delimited(1, [...number(1, 1), ...delimited(2, shape.flat())]);
  return delimited(field, [...named(1, [name]), ...delimited(2, type)]);
}

/** A model with one convolution; `nodes` turn its `frames` (N, T, C) into `features`, and the `scores` of those into `logits`. */
async function write(...nodes: Uint8Array[][]): Promise<string> {
  const graph = [
    ...node('Reshape', [['x', 'shape'], 'wave']),
    ...node('Conv', [['wave', 'kernel'], 'filtered'], { strides: [STRIDE] }),
    ...node('Transpose', [['filtered'], 'frames'], { perm: [0, 2, 1] }),
    ...nodes.flat(),
    ...delimited(5, [
      ...numbers(1, [3]),
      ...number(2, 7),
      ...numbers(7, [1, 1, -1]),
      ...named(8, ['shape']),
    ]),
    ...tensor('kernel', [CHANNELS, 1, KERNEL], 0.1),
    ...tensor('weight', [CHANNELS, LABELS]),
    ...value(11, 'x', 2),
    ...value(12, 'logits', 3),
  ];
  const path = join(folder, 'model.onnx');
  const opset = delimited(8, number(2, 17));
  await writeFile(path, Buffer.concat([...number(1, 8), ...delimited(7, graph), ...opset]));
  return path;
}

const SCORES = node('MatMul', [['features', 'weight'], 'scores']);
const LOGITS = node('Identity', [['scores'], 'logits']);
const ALONE = node('Tanh', [['frames'], 'features']);
const MEAN = node('ReduceMean', [['frames'], 'mean'], { axes: [1] });
const CENTRED = node('Sub', [['frames', 'mean'], 'features']);
const LOUDNESS = node('ReduceMean', [['x'], 'loudness'], { axes: [1], keepdims: 0 });
const SCALED = node('Mul', [['scores', 'loudness'], 'logits']);

test('a model whose frames have features of their own computes them once, with the same scores', async () => {
  const path = await write(ALONE, SCORES, LOGITS);
  const samples = Float32Array.from({ length: 8_000 }, (_, at) => Math.sin(at / 7));
  const whole = await (await CtcEncoder.load(path)).run(samples);
  expect(await cacheFeatures(path)).toContain('will compute the features of each sample once');
  const encoder = await CtcEncoder.load(path);
  expect(encoder.featureWidth).toBe(CHANNELS);
  const first = await encoder.run(samples.slice(0, 4_000));
  const rest = samples.slice(first.count * STRIDE);
  const second = { ...first, contextFrames: 0, keptKeys: [0, 0] as const };
  const { logits, count } = await encoder.run(rest, second);
  expect(count).toBe(whole.count);
  expect(
    Math.max(...logits.map((one, at) => Math.abs(one - (whole.logits[at] ?? NaN)))),
  ).toBeLessThan(1e-4);
  expect(await readdir(folder)).toEqual(['model.onnx']);
});

const POSITIONED = [
  tensor('positional', [CHANNELS, 1, 128], 0.05),
  node('Transpose', [['features'], 'channels'], { perm: [0, 2, 1] }),
  node('Conv', [['channels', 'positional'], 'mixed'], { group: CHANNELS, pads: [64, 63] }),
  node('Transpose', [['mixed'], 'positions'], { perm: [0, 2, 1] }),
  node('Add', [['features', 'positions'], 'positioned']),
].flat();
const ATTENTION = [
  node('Transpose', [['positioned'], 'keys'], { perm: [0, 2, 1] }),
  node('Tanh', [['positioned'], 'values']),
  node('MatMul', [['positioned', 'keys'], 'products']),
  node('Softmax', [['products'], 'shares']),
  node('MatMul', [['shares', 'values'], 'attended']),
  node('MatMul', [['attended', 'weight'], 'scores']),
].flat();

test('a streamed model continues from keys and values with the scores of the whole', async () => {
  const path = await write(ALONE, POSITIONED, ATTENTION, LOGITS);
  const samples = Float32Array.from({ length: 40_000 }, (_, at) =>
    Math.sin(at / 7 + at ** 2 / 1e7),
  );
  const whole = await (await CtcEncoder.load(path)).run(samples);
  expect(await cacheFeatures(path, true)).toBe('Live streams will encode new audio only.');
  const encoder = await CtcEncoder.load(path);
  const none = { features: new Float32Array(), contextFrames: 0, keys: {} };
  const { features, keys } = await encoder.run(samples, { ...none, keptKeys: [0, 80] });
  const rest = await encoder.run(samples.slice(80 * STRIDE), {
    features: features.slice(16 * CHANNELS, 80 * CHANNELS),
    contextFrames: 64,
    keys,
    keptKeys: [60, 110],
  });
  const wanted = whole.logits.slice(80 * LABELS);
  expect(rest.logits).toHaveLength(wanted.length);
  const errors = wanted.map((one, at) => Math.abs(one - (rest.logits[at] ?? NaN)));
  expect(Math.max(...errors)).toBeLessThan(1e-4);
  expect(Object.values(rest.keys).map(({ dims }) => dims)).toEqual([
    [1, CHANNELS, 50],
    [1, 50, CHANNELS],
  ]);
});

test.each([
  ['has no attention', [ALONE, SCORES, LOGITS], 'it has no attention'],
  [
    'scores shares of all frames',
    [
      ALONE,
      POSITIONED,
      ATTENTION,
      node('ReduceL1', [['scores'], 'sum'], { axes: [1] }),
      node('Div', [['scores', 'sum'], 'logits']),
    ],
    'its scores depend on more than features, keys and values',
  ],
])('a model that %s keeps its windows, and says so', async (_, nodes, reason) => {
  const path = await write(...nodes);
  expect(await cacheFeatures(path, true)).toContain(`encode windows: ${reason}`);
  expect(await CtcEncoder.load(path)).toMatchObject({ featureWidth: CHANNELS, isStreamed: false });
  expect(await readdir(folder)).toEqual(['model.onnx']);
});

test.each([
  [
    'features depend on other frames',
    [MEAN, CENTRED, SCORES, LOGITS],
    'its features depend on audio before and after them',
  ],
  [
    'scores depend on the samples otherwise',
    [ALONE, SCORES, LOUDNESS, SCALED],
    'it has no features that could be kept',
  ],
  [
    'frames are not those of its features',
    [ALONE, SCORES, node('Transpose', [['scores'], 'logits'], { perm: [0, 2, 1] })],
    'its features have other frames than its scores',
  ],
])('a model whose %s stays as it is, and says so', async (_, nodes, reason) => {
  const path = await write(...nodes);
  const before = await readFile(path);
  expect(await cacheFeatures(path)).toContain(reason);
  expect((await readFile(path)).equals(before)).toBe(true);
  expect(await readdir(folder)).toEqual(['model.onnx']);
});

test('a file that is no model stays as it is, and says so', async () => {
  const path = join(folder, 'model.onnx');
  await writeFile(path, 'no model');
  expect(await cacheFeatures(path)).toContain('running it failed (Not a protobuf message.)');
  expect(await readFile(path, 'utf8')).toBe('no model');
});
