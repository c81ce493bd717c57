import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseApiKey } from '@svc-asr/runtime/api-key.ts';
import { generateApiKey, hashApiKey } from './format.ts';

test('K01 a key is svc_live_v1_, 12 characters of id, 32 of secret and 6 of checksum', () => {
  for (let index = 0; index < 1_000; index += 1) {
    const { key, publicId } = generateApiKey();
    expect(key).toMatch(/^svc_live_v1_[0-9A-Za-z]{50}$/);
    expect(parseApiKey(key)).toBe(publicId);
  }
});

test('the id of a key made in a cell begins with the cell, and the key has the same form', () => {
  const { key, publicId } = generateApiKey('k2');
  expect(key).toMatch(/^svc_live_v1_k2[0-9A-Za-z]{48}$/);
  expect(parseApiKey(key)).toBe(publicId);
});

test('a key with one character changed is refused by its checksum alone', () => {
  const { key } = generateApiKey();
  fc.assert(
    fc.property(
      fc.integer({ min: 12, max: key.length - 1 }),
      fc.stringMatching(/^[0-9A-Za-z]$/),
      (position, character) => {
        fc.pre(key[position] !== character);
        expect(
          parseApiKey(key.slice(0, position) + character + key.slice(position + 1)),
        ).toBeNull();
      },
    ),
  );
});

test('returns null for anything else and never throws', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(parseApiKey(text)).toBeNull();
      expect(parseApiKey(`svc_live_v1_${text}`)).toBeNull();
    }),
  );
});

test('the hash depends on the pepper', () => {
  const { key } = generateApiKey();
  const first = hashApiKey(key, Buffer.alloc(32, 1));
  expect(first).toHaveLength(32);
  expect(hashApiKey(key, Buffer.alloc(32, 1))).toEqual(first);
  expect(hashApiKey(key, Buffer.alloc(32, 2))).not.toEqual(first);
});
