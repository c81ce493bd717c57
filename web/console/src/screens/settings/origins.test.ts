import { expect, test } from 'vitest';
import { parseOrigins } from './origins.ts';

test('reads pasted origins and removes duplicates', () => {
  const text = ' https://app.example.com/\nhttps://app.example.com http://localhost:3000 ';
  expect(parseOrigins(text)).toEqual({
    origins: ['https://app.example.com', 'http://localhost:3000'],
  });
  expect(parseOrigins('')).toEqual({ origins: [] });
});

test.each([
  'app.example.com',
  'https://a.example/path',
  'ftp://a.example',
  'https://u@a.example',
  'null',
])('rejects "%s"', (text) => {
  expect(parseOrigins(text)).toEqual({ invalid: text });
});
