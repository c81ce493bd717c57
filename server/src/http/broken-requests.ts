import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Deps } from '../deps.ts';
import { ApiError, presentError } from '../errors.ts';
import { newRequestId } from '../ids.ts';

/** Answers what Node's parser gave up on before it was a request: the same body as every other error. */
export function answerBrokenRequests(deps: Deps) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const visible = new ApiError(codeOf(error));
    const requestId = newRequestId();
    const body = JSON.stringify(presentError(visible, requestId));
    deps.metrics.refusals.inc({ code: visible.code });
    deps.log.info({ requestId, status: visible.status, code: visible.code }, 'broken request');
    socket.end(
      `HTTP/1.1 ${visible.status} ${STATUS_CODES[visible.status] ?? ''}\r\n` +
        `Content-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n` +
        `X-Request-Id: ${requestId}\r\n` +
        `Connection: close\r\n\r\n${body}`,
    );
    // A client that does not read its answer must not hold the socket.
    socket.setTimeout(1_000, () => socket.destroy());
  };
}

function codeOf(error: NodeJS.ErrnoException) {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  if (error.code === 'HPE_HEADER_OVERFLOW') return 'request_headers_too_large';
  return 'malformed_request';
}
