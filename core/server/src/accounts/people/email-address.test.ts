import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseEmail } from './email-address.ts';

test('an address is normalised to lower case', () => {
  expect(parseEmail('Wanjiku.K+asr@Mail.Example.ORG')).toBe('wanjiku.k+asr@mail.example.org');
});

test('text that is not one plain ASCII address is refused', () => {
  const refused = [
    '',
    'a@b',
    'a b@example.com',
    'a@example.com\n',
    'a@example.com, b@example.com',
    'Amina <a@example.com>',
    'v\u0130ctim@example.com',
    '\u212aelvin@example.com',
    'a@exämple.com',
    `${'a'.repeat(250)}@example.com`,
  ];
  expect(refused.filter((text) => parseEmail(text) !== null)).toEqual([]);
});

test('the normal form is printable lower-case ASCII and stays the same when normalised again', () => {
  const unit = fc.nat({ max: 0x10ffff }).map((code) => String.fromCodePoint(code));
  const anything = fc.oneof(fc.string({ unit }), fc.emailAddress());
  fc.assert(
    fc.property(anything, (text) => {
      const email = parseEmail(text);
      if (email === null) return;
      expect(email).toMatch(/^[!-@[-~]+$/);
      expect(parseEmail(email)).toBe(email);
    }),
  );
});
