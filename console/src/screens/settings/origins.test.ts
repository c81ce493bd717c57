import { expect, test } from 'vitest';
import { parseOrigins } from './origins.ts';

test('origins are read as people paste them, each once', () => {
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
])('"%s" is not an origin', (text) => {
  expect(parseOrigins(text)).toEqual({ invalid: text });
});
