import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { presentError, type ApiError } from '../errors.ts';

/** An upgrade that is refused gets the same body as every other error, on a connection that then ends. */
export function refuseUpgrade(socket: Duplex, error: ApiError, requestId: string): void {
  const body = JSON.stringify(presentError(error, requestId));
  const headers = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  for (const [name, value] of Object.entries(error.headers)) headers.push(`${name}: ${value}`);
  if (error.status === 405) headers.push('Allow: GET');
  if (error.status === 426) headers.push('Upgrade: websocket', 'Sec-WebSocket-Version: 13');
  if (error.retryAfterSeconds !== null) headers.push(`Retry-After: ${error.retryAfterSeconds}`);
  // A client that does not read its answer must not hold the socket.
  const timer = setTimeout(() => socket.destroy(), 1_000);
  socket.once('close', () => clearTimeout(timer));
  socket.end(`${headers.join('\r\n')}\r\n\r\n${body}`);
}
