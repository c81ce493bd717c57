import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ApiError } from '../errors.ts';
import { isJsonMediaType, parseJsonBody } from './request-body.ts';

function parse(text: string | Uint8Array): unknown {
  try {
    return parseJsonBody(Buffer.from(text));
  } catch (error) {
    return error instanceof ApiError ? error.code : error;
  }
}

test('S05 every JSON value whose names stand once is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parse(text)).toEqual(JSON.parse(text));
    }),
  );
});

test.each([
  ['a name twice', '{"model":"a","model":"a"}'],
  ['a name twice, once in escapes', String.raw`{"model":"a","\u006dodel":"b"}`],
  ['a name twice in an inner object', '{"a":[{"b":1,"c":{},"b":2}]}'],
  ['nothing', ''],
  ['a byte order mark', '\uFEFF{}'],
  ['two values', '{}{}'],
  ['a comma too many', '{"a":1,}'],
  ['NaN', '{"a":NaN}'],
  ['text', 'model=a'],
])('S05 refused as invalid_json: %s', (_what, text) => {
  expect(parse(text)).toBe('invalid_json');
});

test('S05 bytes that are not UTF-8 are refused', () => {
  expect(parse(Uint8Array.from([0x22, 0xff, 0x22]))).toBe('invalid_json');
});

test('the same name in different objects, and names inside strings, are fine', () => {
  const text = String.raw`{"a":{"b":1},"c":[{"b":"{\"b\":1,\"b\":2}"},{"b":3}],"b":"\\"}`;
  expect(parse(text)).toEqual(JSON.parse(text));
});

test('S03 application/json passes with any spelling of its case and charset utf-8; the rest does not', () => {
  for (const good of [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
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
    'application/json; charset=utf-16',
    'application/x-www-form-urlencoded',
  ]) {
    expect(isJsonMediaType(bad), bad).toBe(false);
  }
});
