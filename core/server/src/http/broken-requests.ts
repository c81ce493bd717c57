import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { guardSocket } from '@svc-asr/runtime/server-guard.ts';
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
    refuse(deps, socket, new ApiError(codeOf(error)));
  };
}

/** Answers CONNECT, which asks for a tunnel. Node would close the connection without an answer. */
export function answerConnect(deps: Deps) {
  return (_request: unknown, socket: Duplex): void => {
    guardSocket(socket);
    refuse(deps, socket, new ApiError('method_not_allowed'));
  };
}

function refuse(deps: Deps, socket: Duplex, error: ApiError): void {
  const { code, status } = error;
  const requestId = newRequestId();
  deps.metrics.refusals.inc({ code });
  deps.log.info({ requestId, status, code }, 'broken request');
  writeRefusal(socket, error, requestId);
}

function codeOf(error: NodeJS.ErrnoException) {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  if (error.code === 'HPE_HEADER_OVERFLOW') return 'request_headers_too_large';
  return 'malformed_request';
}
