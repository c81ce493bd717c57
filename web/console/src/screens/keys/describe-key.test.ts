import type { ConsoleKey } from '@svc-asr/protocol/console/console.ts';
import { expect, test } from 'vitest';
import { isInUse, nameOf, rotationOf } from './describe-key.ts';

const key = (id: string, change: Partial<ConsoleKey> = {}): ConsoleKey => ({
  id,
  name: 'server',
  hint: `svc_live_v1_${id}`,
  models: [],
  status: 'live',
  created_at: '2027-01-01T00:00:00Z',
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
  successor: null,
  ...change,
});

test('tells the new key of a rotation from the one that it replaces', () => {
  const old = key('a', { successor: 'b' });
  const fresh = key('b');
  const namesake = key('c');
  expect(rotationOf(old, [old, fresh, namesake])).toBe('old');
  expect(rotationOf(fresh, [old, fresh, namesake])).toBe('new');
  expect(rotationOf(namesake, [old, fresh, namesake])).toBeNull();
});

test('names a key without a name by its prefix', () => {
  expect(nameOf(key('abc', { name: '' }))).toBe('svc_live_v1_abc…');
});

test('calls a key used within the last hour in use', () => {
  const now = '2027-01-01T12:00:00Z';
  expect(isInUse(key('a', { last_used_at: '2027-01-01T11:01:00Z' }), now)).toBe(true);
  expect(isInUse(key('a', { last_used_at: '2027-01-01T10:59:00Z' }), now)).toBe(false);
  expect(isInUse(key('a'), now)).toBe(false);
});
