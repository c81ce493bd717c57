import { expect, test } from 'vitest';
import { checkCtcModel } from './ctc-check.ts';
import { delimited } from './protobuf.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const message = (...parts: Uint8Array[][]): Uint8Array => Buffer.concat(parts.flat());

/** A graph with these inputs, each with so many dimensions, and with weights that are listed as inputs. */
function model(
  inputs: Readonly<Record<string, number>>,
  weights: readonly string[] = [],
): Uint8Array {
  const values = Object.entries(inputs).map(([name, rank]) => {
    const dimensions = Array.from({ length: rank }, () => delimited(1, [bytes('\u0008\u0001')]));
    const shape = delimited(2, [message(...dimensions)]);
    const type = delimited(2, [message(delimited(1, [message(shape)]))]);
    return delimited(11, [message(delimited(1, [bytes(name)]), type)]);
  });
  const tensors = weights.map((name) => delimited(5, [message(delimited(8, [bytes(name)]))]));
  return message(delimited(7, [message(...tensors, ...values)]));
}

test.each([
  ['samples', model({ x: 2 }), null],
  ['samples and weights', model({ x: 2, weight: 3 }, ['weight']), null],
  ['features', model({ input_features: 3 }), 'its input input_features has 3 dimensions'],
  [
    'a mask',
    model({ input_values: 2, attention_mask: 2 }),
    'takes 2 inputs (input_values, attention_mask)',
  ],
  [
    'caches of svc-models',
    model({ x: 2, cached_features: 3, cached_attention_0: 4, kept_to: 1 }),
    null,
  ],
  ['other caches', model({ x: 2, cached_len: 2 }), 'takes 2 inputs (x, cached_len)'],
  ['text', bytes('no model'), 'is not an ONNX file'],
])('a model of %s: %#', (_, file, problem) => {
  const found = checkCtcModel(file);
  expect(problem === null ? found : found?.includes(problem)).toBe(problem === null ? null : true);
});
