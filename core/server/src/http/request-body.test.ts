import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ApiError } from '../platform/api-error.ts';
import { isJsonMediaType, parseJsonBody } from './request-body.ts';

function parse(text: string | Uint8Array): unknown {
  try {
    return parseJsonBody(Buffer.from(text));
  } catch (error) {
    return error instanceof ApiError ? error.code : error;
  }
}

test('S05 parses every JSON value without duplicate keys as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parse(text)).toEqual(JSON.parse(text));
    }),
  );
});

test.each([
  ['a duplicate key', '{"model":"a","model":"a"}'],
  ['a duplicate key, once escaped', String.raw`{"model":"a","\u006dodel":"b"}`],
  ['a duplicate key in an inner object', '{"a":[{"b":1,"c":{},"b":2}]}'],
  ['nothing', ''],
  ['a byte order mark', '\uFEFF{}'],
  ['two values', '{}{}'],
  ['a trailing comma', '{"a":1,}'],
  ['NaN', '{"a":NaN}'],
  ['text', 'model=a'],
])('S05 returns invalid_json for %s', (_what, text) => {
  expect(parse(text)).toBe('invalid_json');
});

test.each([
  ['1.00000000000000000001', Number.NaN],
  ['0.99999999999999999999', Number.NaN],
  ['100000000000000000000.5', Number.NaN],
  ['600000000000000000001e-19', Number.NaN],
  ['60.000', 60],
  ['6e1', 60],
  ['600e-1', 60],
  ['0.006E+4', 60],
  ['0e-5', 0],
  ['-0.0', -0],
])('S05 a number counts as whole only if its text is: %s', (text, value) => {
  expect(parse(text)).toBe(value);
});

test('S05 refuses invalid UTF-8', () => {
  expect(parse(Uint8Array.from([0x22, 0xff, 0x22]))).toBe('invalid_json');
});

test('accepts the same key in different objects and inside strings', () => {
  const text = String.raw`{"a":{"b":1},"c":[{"b":"{\"b\":1,\"b\":2}"},{"b":3}],"b":"\\"}`;
  expect(parse(text)).toEqual(JSON.parse(text));
});

test('S03 accepts application/json in any case and with any parameters, and nothing else', () => {
  for (const good of [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json; charset=utf-16',
    'application/json; anything=else',
    'application/json ;',
  ]) {
    expect(isJsonMediaType(good), good).toBe(true);
  }
  for (const bad of [
    undefined,
    '',
    'text/plain',
    'text/json',
    'application/json5',
    'application/vnd.api+json',
    'application/x-www-form-urlencoded',
  ]) {
    expect(isJsonMediaType(bad), bad).toBe(false);
  }
});
