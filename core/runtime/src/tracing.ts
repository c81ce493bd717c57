import { createHash, randomBytes } from 'node:crypto';

/** A trace and a span in it, to which child spans are attached. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
}

/** A finished span. Attributes are ids and numbers, never audio, text, keys or credentials. */
export interface SpanRecord extends TraceParent {
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal';
  readonly parentSpanId?: string;
  /** Wall-clock time. */
  readonly startMs: number;
  readonly endMs: number;
  readonly failed?: boolean;
  readonly attributes?: Readonly<Record<string, string | number>>;
}

/** Spans are recorded when they end, so no span object has to be passed through the code. */
export interface Tracing {
  record(span: SpanRecord): void;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

/**
 * Derives the trace of a session and its first span (the request that created it) from the session id. Every process
 * that handles the session adds to the same trace, although the client does not forward a trace context.
 */
export function sessionTrace(sessionId: string): TraceParent {
  const hash = createHash('sha256').update(`trace of ${sessionId}`).digest();
  return {
    traceId: hash.subarray(0, TRACE_ID_BYTES).toString('hex'),
    spanId: hash.subarray(TRACE_ID_BYTES, TRACE_ID_BYTES + SPAN_ID_BYTES).toString('hex'),
  };
}

export function newTrace(): TraceParent {
  return { traceId: randomBytes(TRACE_ID_BYTES).toString('hex'), spanId: newSpanId() };
}

export function newSpanId(): string {
  return randomBytes(SPAN_ID_BYTES).toString('hex');
}

/** Formats the W3C `traceparent` header. */
export function presentTraceparent({ traceId, spanId }: TraceParent): string {
  return `00-${traceId}-${spanId}-01`;
}

export function parseTraceparent(text: string): TraceParent | null {
  const [, traceId, spanId] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-0[01]$/.exec(text) ?? [];
  return traceId === undefined || spanId === undefined ? null : { traceId, spanId };
}
