import { expect, test } from 'vitest';
import { readSessionToken } from './cookies.ts';

const TOKEN = 'A'.repeat(43);
const OTHER = 'B'.repeat(43);

test('reads the token among other cookies', () => {
  expect(readSessionToken(`theme=dark; __Host-svc_console=${TOKEN}; a=b`)).toBe(TOKEN);
});

test.each([
  ['no header', undefined],
  ['two values for one name', `__Host-svc_console=${TOKEN}; __Host-svc_console=${OTHER}`],
  ['a value of another shape', '__Host-svc_console=%41'],
  ['a name that only ends like ours', `x__Host-svc_console=${TOKEN}`],
])('returns null for %s', (_, header) => {
  expect(readSessionToken(header)).toBeNull();
});
