import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeControls } from './escape-controls.ts';

test('visible text stays as it is, with its line breaks', () => {
  expect(escapeControls('Nĩ wega\n😀 “ok”')).toBe('Nĩ wega\n😀 “ok”');
});

test('separators, tags and lone surrogates are escaped unit by unit', () => {
  expect(escapeControls('a\u2028b')).toBe('a\\u2028b');
  expect(escapeControls('\u{e0041}')).toBe('\\udb40\\udc41');
  expect(escapeControls('\ud800x')).toBe('\\ud800x');
});

test('an escaped JSON document has the same content', () => {
  // All code points, with lone surrogates. fast-check's own `binary` unit takes a second to build.
  const unit = fc.nat({ max: 0x10ffff }).map((code) => String.fromCodePoint(code));
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      expect(JSON.parse(escapeControls(JSON.stringify(text)))).toBe(text);
    }),
  );
});
