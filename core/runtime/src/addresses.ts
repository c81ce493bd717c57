/** Addresses of engine nodes: `host:port[,host:port...]`, or `dns:///name:port` for all addresses of a name. */

/** Each costs two connections and a heartbeat. */
export const NODES_MAX = 256;
const PORT_MAX = 65_535;
const DNS_PREFIX = 'dns:///';
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\]):\d+$/;

/** Returns the `name:port` to resolve. Null: the source is a list of addresses. */
export function dnsTarget(source: string): string | null {
  return source.startsWith(DNS_PREFIX) ? source.slice(DNS_PREFIX.length) : null;
}

export function splitAddresses(source: string): string[] {
  return source.split(',').map((part) => part.trim());
}

/** Whether every address of the list is on this machine. */
export function areLocal(addresses: string): boolean {
  return splitAddresses(addresses).every((address) => LOOPBACK.test(address));
}

/** Returns the problem with the setting, or null. */
export function addressProblem(source: string): string | null {
  const target = dnsTarget(source);
  const parts = target === null ? splitAddresses(source) : [target];
  if (parts.length > NODES_MAX) return `must have at most ${NODES_MAX} addresses`;
  const isFine = parts.every(
    (part) =>
      /^(\[[0-9a-f:]+\]|[^\s:/]+):\d{1,5}$/i.test(part) &&
      Number(part.slice(part.lastIndexOf(':') + 1)) <= PORT_MAX,
  );
  return isFine ? null : 'must be HOST:PORT[,HOST:PORT...] or dns:///NAME:PORT';
}
