import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf, type IsTrusted } from '@svc-asr/runtime/network.ts';

/** A response without progress for this long is aborted. */
const WRITE_TIMEOUT_MS = 15_000;
const CHECK_EVERY_MS = 1_000;
/** Bytes that all HTTP responses together may hold for clients that read slowly. */
export const UNSENT_BYTES_MAX = 32 * 1024 * 1024;

export interface ConnectionLimits {
  /** HTTP connections per address. Streams don't count: a telephone gateway may hold thousands. */
  readonly perAddress: number;
  readonly isExempt: IsTrusted;
}

interface Tracked {
  /** After the handshake, the TLS socket around the first one. */
  socket: Socket;
  readonly network: string;
  /** When its output was last empty, by performance.now(). */
  sentAtMs: number;
}

/**
 * Limits the cost of clients that don't read. Each address has a limited number of HTTP connections: one more closes the
 * connection of that address that has waited longest for its client to read. So an address shared by many people still
 * serves those who do read. A connection that becomes a stream is released.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
): { readonly release: (socket: Socket) => void } {
  const byNetwork = new Map<string, Set<Tracked>>();
  const tracked = new Map<string, Tracked>();
  server.timeout = WRITE_TIMEOUT_MS;

  function forget(client: string): void {
    const entry = tracked.get(client);
    if (entry === undefined) return;
    tracked.delete(client);
    const own = byNetwork.get(entry.network);
    own?.delete(entry);
    if (own?.size === 0) byNetwork.delete(entry.network);
  }
  function track(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const network = networkOf(address);
    const own = byNetwork.get(network) ?? new Set<Tracked>();
    byNetwork.set(network, own);
    const isFull = own.size >= limits.perAddress && !limits.isExempt(address);
    if (isFull) longestWaiting(own)?.socket.destroy();
    const entry: Tracked = { socket, network, sentAtMs: performance.now() };
    own.add(entry);
    const client = clientOf(socket);
    tracked.set(client, entry);
    socket.once('close', () => forget(client));
  }
  const check = setInterval(() => {
    let unsentBytes = 0;
    const now = performance.now();
    for (const entry of tracked.values()) {
      if (entry.socket.writableLength === 0) entry.sentAtMs = now;
      unsentBytes += entry.socket.writableLength;
    }
    if (unsentBytes > UNSENT_BYTES_MAX) shedSlowest(tracked, unsentBytes);
  }, CHECK_EVERY_MS).unref();

  // An unfinished TLS handshake counts as a connection too.
  server.on('connection', track);
  server.on('secureConnection', (socket: Socket) => {
    const entry = tracked.get(clientOf(socket));
    if (entry !== undefined) entry.socket = socket;
  });
  server.once('close', () => clearInterval(check));
  // Doesn't listen for 'upgrade', because Node.js then expects the listener to answer.
  return { release: (socket) => forget(clientOf(socket)) };
}

/** The TLS socket and the socket under it have the same client. */
function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}|${remotePort}`;
}

function longestWaiting(entries: Iterable<Tracked>): Tracked | undefined {
  let longest: Tracked | undefined;
  for (const entry of entries) {
    if (longest === undefined || entry.sentAtMs < longest.sentAtMs) longest = entry;
  }
  return longest;
}

/** Closes the longest-stalled connections until the rest fits. */
function shedSlowest(tracked: ReadonlyMap<string, Tracked>, unsentBytes: number): void {
  const slowestFirst = [...tracked.values()].toSorted((a, b) => a.sentAtMs - b.sentAtMs);
  let left = unsentBytes;
  for (const { socket } of slowestFirst) {
    if (left <= UNSENT_BYTES_MAX) return;
    left -= socket.writableLength;
    socket.destroy();
  }
}
