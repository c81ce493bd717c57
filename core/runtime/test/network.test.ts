import { expect, test } from 'vitest';
import { blockOf, clientAddress, isProxyEntry, networkOf, trustProxies } from '../src/network.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:0:1:aaaa:bbbb:cccc:dddd', '2001:db8:0:1::/64'],
  ['2001:0DB8::1:0:0:0:9', '2001:db8:0:1::/64'],
  ['2001:db8:0:1::', '2001:db8:0:1::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('%s is counted as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test.each([
  ['192.0.2.7', '192.0.2.0/24'],
  ['::ffff:192.0.2.7', '192.0.2.0/24'],
  ['2001:db8:0:1:aaaa:bbbb:cccc:dddd', '2001:db8:0::/48'],
])('%s belongs to the block %s', (address, block) => {
  expect(blockOf(address)).toBe(block);
});

test.each([
  ['a peer that is not a proxy', '203.0.113.5', '192.0.2.1', '203.0.113.5'],
  ['a proxy', '10.1.2.3', '192.0.2.1', '192.0.2.1'],
  ['a proxy on an IPv6 socket', '::ffff:10.1.2.3', '192.0.2.1', '192.0.2.1'],
  ['a proxy whose caller invents addresses', '10.1.2.3', '198.51.100.9, 192.0.2.1', '192.0.2.1'],
  ['two proxies', '10.1.2.3', '192.0.2.1,2001:db8::7', '192.0.2.1'],
  ['a proxy without the header', '10.1.2.3', undefined, '10.1.2.3'],
  ['a proxy with an empty header', '10.1.2.3', '', '10.1.2.3'],
  ['a proxy that names only proxies', '10.1.2.3', '10.9.9.9', '10.9.9.9'],
])('finds the client behind %s', (_name, peer, forwardedFor, client) => {
  const isTrusted = trustProxies(['10.0.0.0/8', '2001:db8::7']);
  expect(clientAddress(peer, forwardedFor, isTrusted)).toBe(client);
});

test('trusts no forwarded address without configured proxies', () => {
  expect(clientAddress('127.0.0.1', '192.0.2.1', trustProxies([]))).toBe('127.0.0.1');
});

test('a proxy is an address or a network', () => {
  const right = ['10.0.0.1', '10.0.0.0/8', '2001:db8::/32', '::1'];
  expect(right.filter((entry) => !isProxyEntry(entry))).toEqual([]);
  const wrong = ['1', 'proxy.example.com', '10.0.0.0/33', '10.0.0.0/', '::/129', '10.0.0.0/8/8'];
  expect(wrong.filter(isProxyEntry)).toEqual([]);
});
