import { expect, test } from 'vitest';
import { findSuperLinear } from './linear-expressions.ts';

const find = ({ source, flags }: RegExp): string | null =>
  findSuperLinear({ pattern: source, flags });

test.each([
  /\/+$/,
  /(a+)+$/,
  /: Audio: .*?, (\d+) Hz/g,
  /\bVersion\/(\d{1,4})[\d.]* .*Safari\//,
  /(?<=:\/\/)[^\s"'@/]+:[^\s"'@/]+(?=@)/g,
  /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}]/g,
])('finds that %s can take more than linear time', (expression) => {
  expect(find(expression)).toMatch(/quadratic|exponential/);
});

test.each([
  /^a.*b$/,
  /, (\d{1,9}) Hz/g,
  /a[^a]*b/,
  /A.*B/y,
  /(?<=:\/\/)[^\s"'@/:]*:[^\s"'@/]+(?=@)/g,
  /[a-z]+(?:-[a-z]+)*-?/gu,
])('accepts %s', (expression) => {
  expect(find(expression)).toBeNull();
});
