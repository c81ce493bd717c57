import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { endSocket } from '@svc-asr/runtime/end-socket.ts';
import { presentError, type ApiError } from '../api-error.ts';

/**
 * Writes an error response straight to a socket, where there is no HTTP response object: refused upgrades and requests
 * that Node's parser rejected. The body is the same as for every other error. Closes the connection.
 */
export function writeRefusal(socket: Duplex, error: ApiError, requestId: string): void {
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
  endSocket(socket, `${headers.join('\r\n')}\r\n\r\n${body}`);
}
