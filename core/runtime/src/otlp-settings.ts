import type { EnvironmentReader } from './environment.ts';

/** Where traces are sent, and the share of them that is kept. */
export interface OtlpSettings {
  /** Such as http://collector:4318. */
  readonly endpoint: string;
  /** From 0 to 1. All processes keep the same traces. */
  readonly ratio: number;
}

/** Reads the trace endpoint from OpenTelemetry's standard variables. Null: no traces. */
export function readOtlpSettings({ env, problems }: EnvironmentReader): OtlpSettings | null {
  const endpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!endpoint) return null;
  if (!URL.canParse(endpoint) || !/^https?:/.test(endpoint)) {
    problems.push('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL');
  }
  const ratio = Number(env['OTEL_TRACES_SAMPLER_ARG'] || 1);
  if (!(ratio >= 0 && ratio <= 1)) problems.push('OTEL_TRACES_SAMPLER_ARG must be from 0 to 1');
  return { endpoint, ratio };
}
