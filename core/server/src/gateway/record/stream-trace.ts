import {
  newSpanId,
  sessionTrace,
  type TraceParent,
  type Tracing,
} from '@svc-asr/runtime/tracing.ts';

type Attributes = Readonly<Record<string, string | number>>;

/** The spans of one stream, in the trace of its session. They end when they are recorded. */
export class StreamTrace {
  /** The stream's own span: the parent of its parts, here and on engine nodes. */
  readonly span: TraceParent;
  readonly #tracing: Tracing;
  readonly #requestSpanId: string;
  readonly #beganMs = Date.now();

  constructor(tracing: Tracing, sessionId: string) {
    const { traceId, spanId } = sessionTrace(sessionId);
    this.#tracing = tracing;
    this.#requestSpanId = spanId;
    this.span = { traceId, spanId: newSpanId() };
  }

  /** Records one part that ends now. */
  part(name: string, lastedMs: number, attributes: Attributes = {}): void {
    const endMs = Date.now();
    this.#tracing.record({
      name,
      kind: 'internal',
      traceId: this.span.traceId,
      spanId: newSpanId(),
      parentSpanId: this.span.spanId,
      startMs: endMs - lastedMs,
      endMs,
      attributes,
    });
  }

  end(outcome: { readonly failed: boolean; readonly attributes: Attributes }): void {
    this.#tracing.record({
      name: 'stream',
      kind: 'server',
      ...this.span,
      parentSpanId: this.#requestSpanId,
      startMs: this.#beganMs,
      endMs: Date.now(),
      ...outcome,
    });
  }
}
