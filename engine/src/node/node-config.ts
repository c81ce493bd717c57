import { fileURLToPath } from 'node:url';
import { DEVICES, THREADS_PER_CHILD_MAX, type Compute, type Device } from '../compute.ts';
import type { TlsFiles } from '../grpc/certificates.ts';

export interface NodeConfig {
  readonly listen: string;
  readonly modelsDir: string;
  readonly children: number | null;
  readonly slotsPerChild: number | null;
  readonly compute: Compute;
  /** Null: no TLS. Beyond loopback this needs ENGINE_INSECURE=1. */
  readonly tls: TlsFiles | null;
  readonly drainMs: number;
  /** Null: no metrics. */
  readonly metricsPort: number | null;
  /** Null: no traces. */
  readonly otlp: { readonly endpoint: string; readonly ratio: number } | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\]):\d+$/;

/** Whether every address of the list is on this machine. */
export function isLoopback(addresses: string): boolean {
  return addresses.split(',').every((address) => LOOPBACK.test(address.trim()));
}

/** Reads the settings of svc-engine. Throws an error that lists every problem. */
export function parseNodeConfig(env: Environment): NodeConfig {
  const problems: string[] = [];
  function integer(name: string, min: number, max: number): number | null {
    const text = env[name];
    if (!text) return null;
    const value = Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    problems.push(`${name} must be a whole number from ${min} to ${max}`);
    return null;
  }
  const listen = env['ENGINE_LISTEN'] || '127.0.0.1:50051';
  if (!/:\d+$/.test(listen)) problems.push('ENGINE_LISTEN must be HOST:PORT');
  const config: NodeConfig = {
    listen,
    modelsDir: env['MODELS_DIR'] || fileURLToPath(new URL('../../../models', import.meta.url)),
    children: integer('ENGINE_CHILDREN', 1, 256),
    slotsPerChild: integer('ENGINE_SLOTS_PER_CHILD', 1, 10_000),
    compute: {
      threads: integer('ENGINE_THREADS_PER_CHILD', 1, THREADS_PER_CHILD_MAX) ?? 1,
      device: parseDevice(env, problems),
    },
    tls: parseTlsFiles(env, problems),
    drainMs: (integer('DRAIN_SECONDS', 0, 3_600) ?? 30) * 1000,
    metricsPort: integer('METRICS_PORT', 0, 65_535),
    otlp: parseOtlp(env, problems),
  };
  if (config.tls === null && !isLoopback(listen) && env['ENGINE_INSECURE'] !== '1') {
    problems.push(
      'ENGINE_LISTEN beyond this machine needs ENGINE_TLS_*_FILE (or ENGINE_INSECURE=1)',
    );
  }
  if (problems.length > 0) {
    throw new Error(`Invalid configuration:\n  ${problems.join('\n  ')}\nSee docs/engine.md.`);
  }
  return config;
}

function parseDevice(env: Environment, problems: string[]): Device {
  const named = env['ENGINE_DEVICE'] || 'cpu';
  const device = DEVICES.find((one) => one === named);
  if (device === undefined) problems.push(`ENGINE_DEVICE must be ${DEVICES.join(', ')}`);
  return device ?? 'cpu';
}

/** Reads the trace endpoint from OpenTelemetry's standard variables. */
export function parseOtlp(env: Environment, problems: string[]): NodeConfig['otlp'] {
  const endpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!endpoint) return null;
  if (!URL.canParse(endpoint) || !/^https?:/.test(endpoint)) {
    problems.push('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL');
  }
  const ratio = Number(env['OTEL_TRACES_SAMPLER_ARG'] || 1);
  if (!(ratio >= 0 && ratio <= 1)) problems.push('OTEL_TRACES_SAMPLER_ARG must be from 0 to 1');
  return { endpoint, ratio };
}

/** The three files of mutual TLS: all or none. */
export function parseTlsFiles(env: Environment, problems: string[]): TlsFiles | null {
  const certFile = env['ENGINE_TLS_CERT_FILE'];
  const keyFile = env['ENGINE_TLS_KEY_FILE'];
  const caFile = env['ENGINE_TLS_CA_FILE'];
  if (certFile && keyFile && caFile) return { certFile, keyFile, caFile };
  if (certFile || keyFile || caFile) {
    problems.push(
      'ENGINE_TLS_CERT_FILE, ENGINE_TLS_KEY_FILE and ENGINE_TLS_CA_FILE must be set together',
    );
  }
  return null;
}
