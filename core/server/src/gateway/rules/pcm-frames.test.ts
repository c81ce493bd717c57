import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isText, parseTextMessage } from './pcm-frames.ts';

const parse = (text: string) => parseTextMessage(Buffer.from(text));

test('parses the three message types, with and without an id', () => {
  expect(parse('{"type":"flush"}')).toEqual({ type: 'flush', id: undefined });
  expect(parse('{"type":"reset","id":"r1"}')).toEqual({ type: 'reset', id: 'r1' });
  expect(parse('{"type":"config","language":"ki","x":1}')).toEqual({
    type: 'config',
    id: undefined,
    language: 'ki',
    context: undefined,
    fields: ['language', 'x'],
    ignored: ['x'],
  });
});

test.each([
  ['no JSON', 'flush'],
  ['an array', '[{"type":"flush"}]'],
  ['null', 'null'],
  ['no type', '{"text":"flush"}'],
  ['a type that is not a string', '{"type":1}'],
  ['an id that is neither a string nor a number', '{"type":"flush","id":true}'],
  ['a number of more than 128 digits as id', `{"type":"flush","id":${'9'.repeat(129)}}`],
  ['a duplicate member', '{"type":"flush","type":"reset"}'],
  ['a duplicate member, once escaped', String.raw`{"type":"flush","id":1,"\u0069d":2}`],
  ['an id that is too long', JSON.stringify({ type: 'flush', id: 'x'.repeat(129) })],
  ['deep nesting', `{"type":"config","context":${'['.repeat(9)}${']'.repeat(9)}}`],
])('%s is an invalid message', (_, text) => {
  expect(parse(text)).toEqual({ type: 'invalid', code: 'invalid_message' });
});

test.each(['9007199254740993', '-12345678901234567890', '1e400', '1.50', '0', '-7', '2.5'])(
  'the id %s comes back as sent',
  (id) => {
    const message = parse(`{"type":"flush","id":${id}}`);
    expect(message.type).toBe('flush');
    expect(JSON.stringify({ id: message.id })).toBe(`{"id":${id}}`);
  },
);

test('lists unknown fields inside endpointing', () => {
  const text = '{"type":"config","endpointing":{"silence_ms":500,"silence":1},"colour":"red"}';
  expect(parse(text)).toMatchObject({ ignored: ['colour', 'endpointing.silence'] });
});

test('distinguishes an unknown type from text that is not a message', () => {
  expect(parse('{"type":"stop"}')).toEqual({ type: 'invalid', code: 'unknown_message_type' });
  expect(parse('{"type":"__proto__"}')).toMatchObject({ code: 'unknown_message_type' });
});

test('the list of ignored fields is bounded, and a field named __proto__ is only a name', () => {
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`field${at}`, at]));
  const message = parse(JSON.stringify({ type: 'config', ...many }));
  expect(message).toMatchObject({ type: 'config' });
  expect(message.type === 'config' && message.ignored).toHaveLength(16);
  expect(parse('{"type":"config","__proto__":{"id":1}}')).toMatchObject({ ignored: ['__proto__'] });
});

test('never throws', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(['config', 'flush', 'reset', 'invalid']).toContain(
        parseTextMessage(Buffer.from(bytes)).type,
      );
    }),
  );
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parse(text).type).toBe('invalid');
    }),
  );
});

test('detects invalid UTF-8', () => {
  expect(isText(Buffer.from('nĩ wega'))).toBe(true);
  expect(isText(Buffer.from([0xc3, 0x28]))).toBe(false);
});
