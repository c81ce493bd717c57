import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Who may use a listening process. For Node only, so `index.ts` doesn't export it. */

/** Compares in constant time. */
export function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}

export function hasBearer(request: IncomingMessage, token: string): boolean {
  return isSame(request.headers.authorization?.replace(/^Bearer /, '') ?? '', token);
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
