import { readFileSync } from 'node:fs';
import { STAND_IN } from '@svc-asr/testing/speech/stand-in.ts';
import { expect, test } from 'vitest';
import { delimited, fieldsOf, readVarint, varint } from '@svc-asr/engine/protobuf.ts';
import { toSignedWeights } from '../src/graph/signed-weights.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const message = (...parts: Uint8Array[][]): Uint8Array => Buffer.concat(parts.flat());

/** A node with these inputs. */
function node(type: string, ...inputs: string[]): Uint8Array[] {
  const named = inputs.map((input) => delimited(1, [bytes(input)]));
  return delimited(1, [message(...named, delimited(4, [bytes(type)]))]);
}

/** A tensor of unsigned bytes: as raw data, or as numbers, as exporters write zero points. */
function tensor(name: string, values: number[], as: 'raw' | 'numbers'): Uint8Array[] {
  const data =
    as === 'raw' ? delimited(9, [Uint8Array.from(values)]) : delimited(5, values.map(varint));
  return delimited(5, [message([varint(2 * 8), varint(2)], data, delimited(8, [bytes(name)]))]);
}

function model(...graph: Uint8Array[][]): Uint8Array {
  const before = [varint(8), varint(8)];
  return message(before, delimited(7, [message(...graph)]), delimited(14, [bytes('')]));
}

/** The values of every 8-bit tensor by name. */
function valuesOf(file: Uint8Array): Map<string, number[]> {
  const graph = fieldsOf(file).find(({ number }) => number === 7);
  const found = new Map<string, number[]>();
  for (const field of fieldsOf(graph?.value ?? Buffer.alloc(0))) {
    if (field.number !== 5) continue;
    const parts = new Map(fieldsOf(field.value).map((part) => [part.number, part.value]));
    const type = readVarint(parts.get(2) ?? varint(0), { position: 0 });
    if (type !== 2 && type !== 3) continue;
    const values = [...(parts.get(9) ?? numbersIn(parts.get(5)))];
    const signed = values.map((value) => (type === 3 ? (value << 24) >> 24 : value));
    found.set(Buffer.from(parts.get(8) ?? '').toString(), signed);
  }
  return found;
}

function numbersIn(packed: Uint8Array = Buffer.alloc(0)): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0n, 0n];
  for (const byte of packed) {
    value |= BigInt(byte & 0x7f) << shift;
    shift += 7n;
    if (byte >= 0x80) continue;
    numbers.push(Number(BigInt.asIntN(32, value)));
    [value, shift] = [0n, 0n];
  }
  return numbers;
}

test('weights and zero points of matrix products move down by 128, the rest stays', () => {
  const before = model(
    node('MatMulInteger', 'a', 'weight', 'a_zero', 'weight_zero'),
    node('Gather', 'table', 'a'),
    tensor('weight', [0, 127, 128, 255], 'raw'),
    tensor('weight_zero', [120], 'numbers'),
    tensor('table', [1, 2, 3], 'raw'),
  );
  const { parts, matrices } = toSignedWeights(before);
  expect(matrices).toBe(1);
  expect(Object.fromEntries(valuesOf(Buffer.concat(parts)))).toEqual({
    weight: [-128, -1, 0, 127],
    weight_zero: [-8],
    table: [1, 2, 3],
  });
});

test.each([
  ['that another node uses too', node('Cast', 'weight')],
  ['whose zero point another node uses too', node('Cast', 'weight_zero')],
  ['that another product uses without a zero point', node('MatMulInteger', 'a', 'weight')],
])('a matrix %s stays unsigned', (_, other) => {
  const before = model(
    node('MatMulInteger', 'a', 'weight', 'a_zero', 'weight_zero'),
    other,
    tensor('weight', [0, 255], 'raw'),
    tensor('weight_zero', [120], 'numbers'),
  );
  const { parts, matrices } = toSignedWeights(before);
  expect(matrices).toBe(0);
  expect(Buffer.concat(parts).equals(before)).toBe(true);
});

test('every product of a published layout stays the same', () => {
  const published = readFileSync(STAND_IN.model);
  const { parts, matrices } = toSignedWeights(published);
  expect(matrices).toBe(70);
  const [before, after] = [valuesOf(published), valuesOf(Buffer.concat(parts))];
  const moves = new Map(
    [...before].map(([name, values]) => [name, moveOf(values, after.get(name))]),
  );
  for (const [name, move] of moves) {
    // Left sides of products stay unsigned.
    const expected = name.startsWith('encoder.positions') ? 0 : 128;
    expect({ name, move }).toEqual({ name, move: expected });
  }
});

/** By how much all of the values moved down; NaN when not all by the same. */
function moveOf(before: readonly number[], after: readonly number[] = []): number {
  const [first = Number.NaN] = before.map((value, at) => value - (after[at] ?? Number.NaN));
  return before.every((value, at) => value - (after[at] ?? Number.NaN) === first)
    ? first
    : Number.NaN;
}

test('a file that is not a model is refused', () => {
  expect(() => toSignedWeights(bytes('not a model'))).toThrow(RangeError);
});
