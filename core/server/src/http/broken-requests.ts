import type { Socket } from 'node:net';
import type { Deps } from '../deps.ts';
import { ApiError } from '../platform/api-error.ts';
import { newRequestId } from '../platform/ids.ts';
import { writeRefusal } from '../platform/network/raw-refusal.ts';

/** Answers requests that Node's parser rejected, with the same body as every other error. */
export function answerBrokenRequests(deps: Deps) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const visible = new ApiError(codeOf(error));
    const requestId = newRequestId();
    deps.metrics.refusals.inc({ code: visible.code });
    deps.log.info({ requestId, status: visible.status, code: visible.code }, 'broken request');
    writeRefusal(socket, visible, requestId);
  };
}

function codeOf(error: NodeJS.ErrnoException) {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  if (error.code === 'HPE_HEADER_OVERFLOW') return 'request_headers_too_large';
  return 'malformed_request';
}
