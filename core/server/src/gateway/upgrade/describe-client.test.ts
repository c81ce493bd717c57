import { expect, test } from 'vitest';
import { describeClient } from './describe-client.ts';

function originOf(origin: string): string | null {
  return describeClient({ origin }).origin;
}

test('keeps only a printable origin of a usual length', () => {
  expect(originOf('https://app.example.com')).toBe('https://app.example.com');
  expect(originOf('https://a.example\u001b[31m')).toBeNull();
  expect(originOf(`https://${'a'.repeat(300)}.example`)).toBeNull();
});

test('names the client', () => {
  expect(describeClient({ 'user-agent': 'node' })).toEqual({ origin: null, client: 'node' });
});
