import { BlockList, isIP } from 'node:net';

/**
 * Returns the key for limits by address: an IPv4 address, or the /64 of an IPv6 address, because one
 * client usually has a whole /64.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.toLowerCase().split('%')[0]?.split('::') ?? [];
  const left = head.split(':').filter(Boolean);
  const right = tail.split(':').filter(Boolean);
  const zeros = Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}

/**
 * Returns the block that one customer of a network operator may have whole: the /24 of an IPv4 address,
 * the /48 of an IPv6 address.
 */
export function blockOf(address: string): string {
  const network = networkOf(address);
  if (network.includes(':')) return `${network.split(':').slice(0, 3).join(':')}::/48`;
  return `${network.split('.').slice(0, 3).join('.')}.0/24`;
}

export type IsTrusted = (address: string) => boolean;

/** Whether a proxy is an address or a network in CIDR notation, such as 10.0.0.0/8. */
export function isProxyEntry(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
  return isIP(address) !== 0 && isPrefix && rest.length === 0;
}

/** Recognises the operator's proxies by address. */
export function trustProxies(entries: readonly string[]): IsTrusted {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = familyOf(address);
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address));
}

/**
 * Returns the client's address. A proxy adds the address of its peer at the end of X-Forwarded-For, so
 * the list is read from its end, and only while the writer of the entry is a trusted proxy.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | readonly string[] | undefined,
  isTrusted: IsTrusted,
): string {
  const hops = [forwardedFor ?? []].flat().join(',').split(',');
  let address = peer;
  while (isTrusted(address)) {
    const before = hops.pop()?.trim();
    if (!before) break;
    address = before;
  }
  return address;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
