import type { Duplex } from 'node:stream';

const UNREAD_MS = 1_000;

/** Writes the last bytes to a socket. A client that doesn't read or close must not hold it. */
export function endSocket(socket: Duplex, last: string): void {
  const timer = setTimeout(() => socket.destroy(), UNREAD_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.end(last);
}
