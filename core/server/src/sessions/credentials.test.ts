import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCredentials, type SessionCredential } from './credentials.ts';

const oldKey = { id: 1, secret: randomBytes(32) };
const newKey = { id: 2, secret: randomBytes(32) };
const credentials = createCredentials([oldKey]);
const someCredential: fc.Arbitrary<SessionCredential> = fc.record({
  sessionId: fc.uuid(),
  accountId: fc.uuid(),
  expiresAtMs: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
});

test('S11 a credential verifies to its session, and issuing it again returns the same value', () => {
  fc.assert(
    fc.property(someCredential, (credential) => {
      const text = credentials.issue(credential);
      expect(text).toMatch(/^svc\.auth\.[\w-]{96}$/);
      expect(credentials.issue(credential)).toBe(text);
      expect(credentials.verify(text)).toEqual(credential);
    }),
  );
});

test('a credential with any bit changed does not verify', () => {
  fc.assert(
    fc.property(someCredential, fc.nat(72 * 8 - 1), (credential, bit) => {
      const bytes = Buffer.from(
        credentials.issue(credential).slice('svc.auth.'.length),
        'base64url',
      );
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(credentials.verify(`svc.auth.${bytes.toString('base64url')}`)).toBeNull();
    }),
  );
});

test("the end of a credential proves that its session was the client's own, also after a new key", () => {
  const rotated = createCredentials([newKey, oldKey]);
  fc.assert(
    fc.property(someCredential, fc.nat(15), (credential, at) => {
      const proof = credentials.issue(credential).slice(-16);
      expect(rotated.proves(credential, proof)).toBe(true);
      const other = { ...credential, sessionId: credential.accountId };
      expect(rotated.proves(other, proof)).toBe(other.sessionId === credential.sessionId);
      const wrong = proof.slice(0, at) + (proof[at] === 'A' ? 'B' : 'A') + proof.slice(at + 1);
      expect(rotated.proves(credential, wrong)).toBe(false);
      expect(rotated.proves(credential, '')).toBe(false);
    }),
  );
});

test('refuses any other text without throwing', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
      expect(credentials.verify(text)).toBeNull();
      expect(credentials.verify(`svc.auth.${text}`)).toBeNull();
    }),
  );
});

test('after a rotation the new key signs and the old one still verifies until it is removed', () => {
  const [credential] = fc.sample(someCredential, 1);
  if (credential === undefined) throw new Error('no sample');
  const rotated = createCredentials([newKey, oldKey]);
  const before = credentials.issue(credential);
  expect(rotated.verify(before)).toEqual(credential);
  expect(rotated.issue(credential)).not.toBe(before);
  expect(createCredentials([newKey]).verify(before)).toBeNull();
});
