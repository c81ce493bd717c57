const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|)$/i;

/** Whether the URL names this machine: a loopback address, or a socket file (no host, or its folder as `?host=`). */
export function isLocalUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, searchParams } = new URL(url);
  // The driver prefers the parameter to the URL's host.
  const hosts = [hostname, ...searchParams.getAll('host')];
  return hosts.every((host) => host.startsWith('/') || LOOPBACK.test(host));
}

/** Whether a connection to this database is encrypted, or never leaves the machine. */
export function isSafeDatabaseUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const mode = new URL(url).searchParams.get('sslmode') ?? '';
  return isLocalUrl(url) || ['require', 'verify-ca', 'verify-full'].includes(mode);
}
