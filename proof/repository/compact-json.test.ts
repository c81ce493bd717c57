import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compactJson } from './compact-json.ts';

test('compact JSON has the same content, and no line that could be joined is longer than 150 characters', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = compactJson(value);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      const long = text.split('\n').filter((line) => line.length > 150);
      expect(long.filter((line) => /^\s*("(?:[^"\\]|\\.)*": )?[[{]./.test(line))).toEqual([]);
    }),
  );
});

test('compact JSON puts what fits on one line and indents the rest by two spaces', () => {
  const text = compactJson({
    short: { a: [1, 2], b: null },
    long: ['x'.repeat(80), 'y'.repeat(80)],
  });
  expect(text.split('\n')).toEqual([
    '{',
    '  "short": { "a": [1, 2], "b": null },',
    '  "long": [',
    `    "${'x'.repeat(80)}",`,
    `    "${'y'.repeat(80)}"`,
    '  ]',
    '}',
    '',
  ]);
});
