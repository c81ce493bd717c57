import { lookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { urlHost, type RecordingHosts } from '../bridge-options.ts';
import { RecordingError } from './recording-error.ts';

export interface FetchOptions {
  readonly hosts: RecordingHosts;
  readonly signal: AbortSignal;
  /** The largest recording. */
  readonly bytesMax: number;
  /** Certificates to trust in place of the system's. */
  readonly ca?: Buffer;
}

const REDIRECTS_MAX = 3;
/** How long a server may send nothing. */
const IDLE_MS_MAX = 30_000;

/** Addresses that lead into a network of this machine, or nowhere. */
const PRIVATE = new BlockList();
for (const network of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]) {
  const [address = '', bits] = network.split('/');
  PRIVATE.addSubnet(address, Number(bits), 'ipv4');
}
/** Public IPv6 addresses, without those that hold an IPv4 address. */
const PUBLIC_IPV6 = new BlockList();
PUBLIC_IPV6.addSubnet('2000::', 3, 'ipv6');
const TRANSLATED = new BlockList();
for (const [address, bits] of [
  ['2001::', 32],
  ['2001:db8::', 32],
  ['2002::', 16],
] as const) {
  TRANSLATED.addSubnet(address, bits, 'ipv6');
}

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !PRIVATE.check(address, 'ipv4');
  return PUBLIC_IPV6.check(address, 'ipv6') && !TRANSLATED.check(address, 'ipv6');
}

function isHostOf(url: URL, names: readonly string[]): boolean {
  return names.some((name) => urlHost(name) === url.host);
}

/** Whether a recording may come from here. */
export function isAllowedUrl(url: URL, { from, fromPrivate }: RecordingHosts): boolean {
  const isListed = isHostOf(url, [...from, ...fromPrivate]);
  return url.protocol === 'https:' && url.username === '' && url.password === '' && isListed;
}

/**
 * Yields the bytes behind an address of an allowed host. Throws a `RecordingError` for anything else, also if the host's name
 * leads to a private address, or a redirect leads to another host. The address that was checked is the one that is used.
 */
export async function* fetchRecording(url: URL, options: FetchOptions): AsyncGenerator<Buffer> {
  const { signal, bytesMax } = options;
  const response = await answerOf(url, options);
  try {
    const length = Number(response.headers['content-length'] ?? 0);
    let bytes = 0;
    if (length > bytesMax) throw new RecordingError('recording_too_large');
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) throw new RecordingError('recording_too_large');
      yield chunk;
    }
  } catch (error) {
    if (error instanceof RecordingError || signal.aborted) throw error;
    throw new RecordingError('fetch_failed', error);
  } finally {
    response.destroy();
  }
}

/** Follows redirects on the same host. */
async function answerOf(url: URL, options: FetchOptions): Promise<IncomingMessage> {
  let at = url;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    if (!isAllowedUrl(at, options.hosts)) throw new RecordingError('host_not_allowed');
    const response = await get(at, options);
    const { statusCode = 0, headers } = response;
    if (statusCode === 200) return response;
    response.destroy();
    const { location } = headers;
    const isRedirect = [301, 302, 303, 307, 308].includes(statusCode) && location !== undefined;
    if (!isRedirect) throw new RecordingError('fetch_failed');
    const next = URL.canParse(location, at) ? new URL(location, at) : null;
    if (next?.host !== url.host) throw new RecordingError('redirect_refused');
    at = next;
  }
  throw new RecordingError('redirect_refused');
}

async function get(url: URL, { hosts, signal, ca }: FetchOptions): Promise<IncomingMessage> {
  const isPrivateAllowed = isHostOf(url, hosts.fromPrivate);
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (!isPrivateAllowed && isIP(literal) !== 0 && !isPublicAddress(literal)) {
    throw new RecordingError('private_address');
  }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const asked = request(url, {
    signal,
    agent: false,
    headers: { accept: 'audio/*, */*;q=0.1', 'user-agent': 'svc-telephony' },
    ...(isPrivateAllowed ? {} : { lookup: lookupPublic }),
    ...(ca === undefined ? {} : { ca }),
  });
  asked.setTimeout(IDLE_MS_MAX, () => asked.destroy(new RecordingError('fetch_failed')));
  asked.on('response', resolve).on('error', (error) => {
    const isKnown = error instanceof RecordingError || signal.aborted;
    reject(isKnown ? error : new RecordingError('fetch_failed', error));
  });
  asked.end();
  return promise;
}

/** A name's addresses without the private ones. */
const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    const allowed = error === null ? found.filter(({ address }) => isPublicAddress(address)) : [];
    const [first] = allowed;
    if (error !== null) callback(error, '');
    else if (first === undefined) callback(new RecordingError('private_address'), '');
    else if (options.all === true) callback(null, allowed);
    else callback(null, first.address, first.family);
  });
};
