import { expect, test } from 'vitest';
import { IDEMPOTENCY_KEY_PATTERN } from './constants.ts';
import { lostHost, lostKey } from './lost-host.ts';

test.each([
  ['wss://node-3.example.org/v1/asr/stream', 'node-3.example.org'],
  ['ws://127.0.0.1:8081/v1/asr/stream', '127.0.0.1:8081'],
])('a key that says that %s does not answer is a valid idempotency key', (url, host) => {
  const key = lostKey('a1b2', url);
  expect(key).toMatch(new RegExp(IDEMPOTENCY_KEY_PATTERN));
  expect(lostHost(key)).toBe(host);
});

test('a host that no key can hold is left out', () => {
  expect(lostKey('a1b2', 'wss://[2001:db8::1]/v1/asr/stream')).toBe('a1b2');
  expect(lostKey('a1b2', `wss://${'a'.repeat(130)}/v1/asr/stream`)).toBe('a1b2');
});

test.each([null, '', 'a1b2', 'lost', 'lost.a1b2', 'order.lost.1'])(
  'the key %j says nothing about a node',
  (key) => {
    expect(lostHost(key)).toBeNull();
  },
);
