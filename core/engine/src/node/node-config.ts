import { fileURLToPath } from 'node:url';
import { areLocal } from '@svc-asr/runtime/addresses.ts';
import { EnvironmentReader, type Environment } from '@svc-asr/runtime/environment.ts';
import { readOtlpSettings, type OtlpSettings } from '@svc-asr/runtime/otlp-settings.ts';
import { readTlsFiles, type TlsFiles } from '@svc-asr/runtime/tls-files.ts';
import { DEVICES, THREADS_PER_CHILD_MAX, type Compute } from '../compute.ts';

export interface EngineNodeConfig {
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
  readonly otlp: OtlpSettings | null;
}

const MODELS_DIR = fileURLToPath(new URL('../../../models', import.meta.url));

/** Reads the settings of svc-engine. Throws an error that lists every problem. */
export function parseEngineNodeConfig(env: Environment): EngineNodeConfig {
  const read = new EnvironmentReader(env);
  const { problems } = read;
  const listen = read.text('ENGINE_LISTEN', '127.0.0.1:50051');
  if (!/:\d+$/.test(listen)) problems.push('ENGINE_LISTEN must be HOST:PORT');
  const config: EngineNodeConfig = {
    listen,
    modelsDir: read.text('MODELS_DIR', MODELS_DIR),
    children: read.optionalInteger('ENGINE_CHILDREN', { min: 1, max: 256 }),
    slotsPerChild: read.optionalInteger('ENGINE_SLOTS_PER_CHILD', { min: 1, max: 10_000 }),
    compute: {
      threads: read.integer('ENGINE_THREADS_PER_CHILD', {
        fallback: 1,
        min: 1,
        max: THREADS_PER_CHILD_MAX,
      }),
      device: read.oneOf('ENGINE_DEVICE', DEVICES, 'cpu'),
    },
    tls: readTlsFiles(read),
    drainMs: read.integer('DRAIN_SECONDS', { fallback: 30, min: 0, max: 3_600 }) * 1000,
    metricsPort: read.optionalInteger('METRICS_PORT', { min: 0, max: 65_535 }),
    otlp: readOtlpSettings(read),
  };
  if (config.tls === null && !areLocal(listen) && env['ENGINE_INSECURE'] !== '1') {
    problems.push(
      'ENGINE_LISTEN beyond this machine needs ENGINE_TLS_*_FILE (or ENGINE_INSECURE=1)',
    );
  }
  if (problems.length > 0) {
    throw new Error(`Invalid configuration:\n  ${problems.join('\n  ')}\nSee docs/engine.md.`);
  }
  return config;
}
