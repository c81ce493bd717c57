import { isSafeDatabaseUrl } from '../platform/network/require-tls.ts';
import type { EnvironmentReader } from '@svc-asr/runtime/environment.ts';

export interface DatabaseConfig {
  readonly url: string;
  /** Logins of jobs that need other rights than the process itself. */
  readonly consoleUrl: string;
  readonly signInUrl: string;
  readonly sweeperUrl: string;
  readonly poolSize: number;
}

export function readDatabaseConfig(read: EnvironmentReader): DatabaseConfig {
  const url = databaseUrl(read, 'DATABASE_URL');
  return {
    url,
    consoleUrl: databaseUrl(read, 'CONSOLE_DATABASE_URL', url),
    signInUrl: databaseUrl(read, 'SIGN_IN_DATABASE_URL', url),
    sweeperUrl: databaseUrl(read, 'SWEEPER_DATABASE_URL', url),
    poolSize: read.integer('DATABASE_POOL_SIZE', { fallback: 10, min: 1, max: 500 }),
  };
}

function databaseUrl(read: EnvironmentReader, name: string, fallback = ''): string {
  const value = read.url(name, ['postgres:', 'postgresql:'], fallback);
  if (URL.canParse(value) && !isSafeDatabaseUrl(value)) {
    read.problems.push(`${name} must use TLS beyond this machine: add ?sslmode=verify-full`);
  }
  return value;
}
