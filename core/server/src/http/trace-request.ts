import {
  newSpanId,
  newTrace,
  sessionTrace,
  type TraceParent,
  type Tracing,
} from '@svc-asr/runtime/tracing.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The session that this request created or returned again, and how long the database took. */
    reserved: {
      readonly sessionId: string;
      readonly replayed: boolean;
      readonly tookMs: number;
    } | null;
  }
}

/** Records one request. A session's trace begins with the request that created it. */
export function traceRequest(
  tracing: Tracing,
  request: FastifyRequest,
  reply: FastifyReply,
): TraceParent {
  // A replay is not part of the session's trace, which already has its creating request.
  const reserved = request.reserved?.replayed === false ? request.reserved : null;
  const route = request.routeOptions.url ?? 'unknown';
  const trace = reserved === null ? newTrace() : sessionTrace(reserved.sessionId);
  const endMs = Date.now();
  tracing.record({
    ...trace,
    name: `${request.method} ${route}`,
    kind: 'server',
    startMs: endMs - reply.elapsedTime,
    endMs,
    failed: reply.statusCode >= 500,
    attributes: {
      'http.request.method': request.method,
      'http.route': route,
      'http.response.status_code': reply.statusCode,
      'svc.request_id': request.id,
      ...(request.refusal === null ? {} : { 'error.type': request.refusal.code }),
    },
  });
  if (reserved !== null) {
    tracing.record({
      name: 'ledger.reserve',
      kind: 'client',
      traceId: trace.traceId,
      spanId: newSpanId(),
      parentSpanId: trace.spanId,
      startMs: endMs - reserved.tookMs,
      endMs,
    });
  }
  return trace;
}
