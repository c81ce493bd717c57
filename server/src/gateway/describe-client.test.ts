import { expect, test } from 'vitest';
import { describeClient } from './describe-client.ts';

test.each([
  ['Mozilla/5.0 (X11; Linux) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36', 'Chrome 141'],
  ['Mozilla/5.0 (Windows) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0', 'Edge 141'],
  ['Mozilla/5.0 (iPhone) AppleWebKit/605 Version/18.3 Mobile Safari/604.1', 'Safari 18'],
  ['Mozilla/5.0 (X11; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox 140'],
  ['Python/3.13 websockets/15.0', 'Python 3.13'],
  ['node', 'node'],
  ['Mozilla/5.0 (a device with a serial number 12345)', null],
  ['<script>alert(1)</script>', null],
  ['=cmd|calc', null],
])('reduces the User-Agent %s to %s', (agent, client) => {
  expect(describeClient({ 'user-agent': agent })).toEqual({ origin: null, client });
});

function originOf(origin: string): string | null {
  return describeClient({ origin }).origin;
}

test('keeps only a printable origin of a usual length', () => {
  expect(originOf('https://app.example.com')).toBe('https://app.example.com');
  expect(originOf('https://a.example\u001b[31m')).toBeNull();
  expect(originOf(`https://${'a'.repeat(300)}.example`)).toBeNull();
});
