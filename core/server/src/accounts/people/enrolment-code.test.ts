import { expect, test } from 'vitest';
import { hashEnrolmentCode, newEnrolmentCode } from './enrolment-code.ts';

test('a code has 16 characters that cannot be mistaken for each other', () => {
  const codes = Array.from({ length: 1_000 }, newEnrolmentCode);
  for (const code of codes)
    expect(code).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/);
  expect(new Set(codes).size).toBe(1_000);
});

test('a code is recognised however it is typed, and no other code is', () => {
  const hash = hashEnrolmentCode('7K01-Q9XW-4TBC-E0RD');
  for (const typed of ['7k01q9xw4tbce0rd', ' 7KO1 Q9XW 4TBC EORD ', '7k0l-q9xw-4tbc-e0rd']) {
    expect(hashEnrolmentCode(typed)).toEqual(hash);
  }
  expect(hashEnrolmentCode('7K01-Q9XW-4TBC-E0RE')).not.toEqual(hash);
});
