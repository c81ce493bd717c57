import { hostname } from 'node:os';
import { isProxyEntry } from '@svc-asr/runtime/network.ts';
import { EnvironmentReader, type Environment } from '@svc-asr/runtime/environment.ts';
import { readOtlpSettings, type OtlpSettings } from '@svc-asr/runtime/otlp-settings.ts';
import { readConsoleConfig, type ConsoleConfig } from './config/console-config.ts';
import { readDatabaseConfig, type DatabaseConfig } from './config/database-config.ts';
import { readEngineConfig, type EngineConfig } from './config/engine-config.ts';
import { readLimitsConfig, type LimitsConfig } from './config/limits-config.ts';
import { readSecretsConfig, type SecretsConfig } from './config/secrets-config.ts';
import { LOG_LEVELS, type LogLevel } from './platform/observe/log.ts';
import type { CertificateFiles } from './platform/network/tls.ts';

export { generateSecrets } from './config/secrets-config.ts';

/** The role of a process. `all` is API, streaming node and sweeper in one. */
const ROLES = ['all', 'api', 'node'] as const;
export type Role = (typeof ROLES)[number];

export interface Config {
  readonly role: Role;
  readonly host: string;
  readonly port: number;
  /** Null: plain HTTP, behind a proxy that terminates TLS. */
  readonly tls: CertificateFiles | null;
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  readonly nodeId: string;
  /** Public URL of this node's streams. */
  readonly publicStreamUrl: string;
  /** How long streams may continue after SIGTERM. */
  readonly drainMs: number;
  readonly logLevel: LogLevel;
  /** Trace endpoint. Null: no traces. */
  readonly otlp: OtlpSettings | null;
  readonly database: DatabaseConfig;
  readonly engine: EngineConfig;
  readonly secrets: SecretsConfig;
  readonly limits: LimitsConfig;
  readonly console: ConsoleConfig;
}

/** Reads the environment; nothing else does. Reports every problem at once. */
export function parseConfig(env: Environment): Config {
  const read = new EnvironmentReader(env);
  const config: Config = {
    role: read.oneOf('ROLE', ROLES, 'all'),
    host: read.text('HOST', '127.0.0.1'),
    port: read.integer('PORT', { fallback: 8080, min: 0, max: 65_535 }),
    tls: readCertificateFiles(read),
    trustedProxies: readTrustedProxies(read),
    nodeId: read.text('NODE_ID', hostname()),
    publicStreamUrl: readStreamUrl(read),
    drainMs: read.integer('DRAIN_SECONDS', { fallback: 330, min: 0, max: 3_600 }) * 1000,
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    otlp: readOtlpSettings(read),
    database: readDatabaseConfig(read),
    engine: readEngineConfig(read),
    secrets: readSecretsConfig(read),
    limits: readLimitsConfig(read),
    console: readConsoleConfig(read),
  };
  if (read.problems.length > 0) {
    throw new ConfigError(read.problems);
  }
  return Object.freeze(config);
}

export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`Invalid configuration:\n  ${problems.join('\n  ')}\nSee docs/configuration.md.`);
    this.name = 'ConfigError';
  }
}

function readCertificateFiles({ env, problems }: EnvironmentReader): CertificateFiles | null {
  const certFile = env['TLS_CERT_FILE'];
  const keyFile = env['TLS_KEY_FILE'];
  if (certFile && keyFile) return { certFile, keyFile };
  if (certFile || keyFile) problems.push('TLS_CERT_FILE and TLS_KEY_FILE must be set together');
  return null;
}

function readTrustedProxies({ env, problems }: EnvironmentReader): string[] {
  const entries = (env['TRUSTED_PROXIES'] ?? '').split(',').map((entry) => entry.trim());
  const named = entries.filter(Boolean);
  if (named.every(isProxyEntry)) return named;
  problems.push(
    'TRUSTED_PROXIES must be the addresses or networks of your proxies, such as 10.0.0.0/8,192.0.2.7',
  );
  return [];
}

function readStreamUrl(read: EnvironmentReader): string {
  const allowPlain = read.flag('ALLOW_INSECURE_WS');
  return read.url('PUBLIC_STREAM_URL', allowPlain ? ['wss:', 'ws:'] : ['wss:']);
}
