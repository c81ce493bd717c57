import type { OtlpSettings } from './otlp-settings.ts';
import type { SpanRecord, Tracing } from './tracing.ts';

export interface OtlpOptions extends OtlpSettings {
  readonly serviceName: string;
  readonly instance?: string;
}

/** Sends spans over OTLP/HTTP. OpenTelemetry's packages are loaded here and nowhere else. */
export async function startOtlpTracing(options: OtlpOptions): Promise<Tracing> {
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  let next: SpanRecord | null = null;
  const random = new sdk.RandomIdGenerator();
  const url = `${options.endpoint.replace(/\/$/, '')}/v1/traces`;
  const provider = new sdk.TracerProvider({
    sampler: new sdk.TraceIdRatioBasedSampler(options.ratio),
    // Ids are chosen before a span is recorded, so that its parts can name it.
    idGenerator: {
      generateTraceId: () => next?.traceId ?? random.generateTraceId(),
      generateSpanId: () => next?.spanId ?? random.generateSpanId(),
    },
    resource: resourceFromAttributes({
      'service.name': options.serviceName,
      ...(options.instance === undefined ? {} : { 'service.instance.id': options.instance }),
    }),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url }),
        scheduledDelayMillis: 1_000,
      }),
    ],
  });
  const tracer = provider.getTracer('svc-asr');
  const KINDS = {
    server: api.SpanKind.SERVER,
    client: api.SpanKind.CLIENT,
    internal: api.SpanKind.INTERNAL,
  } as const;

  function record(span: SpanRecord): void {
    const { traceId, parentSpanId, attributes = {}, startMs, endMs } = span;
    const context =
      parentSpanId === undefined
        ? api.ROOT_CONTEXT
        : api.trace.setSpanContext(api.ROOT_CONTEXT, {
            traceId,
            spanId: parentSpanId,
            traceFlags: api.TraceFlags.SAMPLED,
            isRemote: true,
          });
    next = span;
    const kind = KINDS[span.kind];
    const recorded = tracer.startSpan(span.name, { kind, attributes, startTime: startMs }, context);
    next = null;
    if (span.failed === true) recorded.setStatus({ code: api.SpanStatusCode.ERROR });
    recorded.end(endMs);
  }
  return { record, close: () => provider.shutdown() };
}
