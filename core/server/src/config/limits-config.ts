import type { RatePolicy } from '../platform/network/rate-limit.ts';
import { isLocalUrl } from '../platform/network/require-tls.ts';
import type { EnvironmentReader } from '@svc-asr/runtime/environment.ts';

export interface LimitsConfig {
  readonly connections: number;
  /** HTTP connections of one address at once. Streams don't count. */
  readonly connectionsPerAddress: number;
  /** The operator is alerted when more sessions of one account fail within an hour. */
  readonly failedSessionsPerHour: number;
  /** Redis for shared rate limits. Null: each process counts for itself. */
  readonly redisUrl: string | null;
  readonly rates: {
    readonly sessions: RatePolicy;
    readonly usage: RatePolicy;
    readonly models: RatePolicy;
    readonly failedAuthentication: RatePolicy;
    readonly failedUpgrades: RatePolicy;
    readonly consoleForms: RatePolicy;
  };
}

export function readLimitsConfig(read: EnvironmentReader): LimitsConfig {
  return {
    connections: read.integer('CONNECTIONS_MAX', { fallback: 20_000, min: 1, max: 1_000_000 }),
    connectionsPerAddress: read.integer('CONNECTIONS_PER_ADDRESS', {
      fallback: 256,
      min: 1,
      max: 1_000_000,
    }),
    failedSessionsPerHour: read.integer('FAILED_SESSIONS_PER_HOUR', {
      fallback: 5,
      min: 1,
      max: 10_000_000,
    }),
    redisUrl: readRedisUrl(read),
    rates: {
      sessions: rate(read, 'RATE_SESSIONS', { perMinute: 30, burst: 10 }),
      usage: rate(read, 'RATE_USAGE', { perMinute: 60, burst: 60 }),
      models: rate(read, 'RATE_MODELS', { perMinute: 120, burst: 120 }),
      failedAuthentication: rate(read, 'RATE_FAILED_AUTHENTICATION', { perMinute: 20, burst: 20 }),
      failedUpgrades: rate(read, 'RATE_FAILED_UPGRADES', { perMinute: 30, burst: 30 }),
      consoleForms: rate(read, 'RATE_CONSOLE_FORMS', { perMinute: 10, burst: 20 }),
    },
  };
}

function readRedisUrl(read: EnvironmentReader): string | null {
  const value = read.optionalUrl('REDIS_URL', ['redis:', 'rediss:']);
  if (value?.startsWith('redis:') && !isLocalUrl(value)) {
    read.problems.push('REDIS_URL must use TLS beyond this machine: rediss://');
  }
  return value;
}

function rate(read: EnvironmentReader, name: string, fallback: RatePolicy): RatePolicy {
  const value = read.env[name];
  if (!value) return fallback;
  const match = /^([1-9]\d{0,6})(?:\/([1-9]\d{0,6}))?$/.exec(value);
  if (match !== null) {
    return { perMinute: Number(match[1]), burst: Number(match[2] ?? match[1]) };
  }
  read.problems.push(`${name} must be PER_MINUTE or PER_MINUTE/BURST, such as 30/10`);
  return fallback;
}
