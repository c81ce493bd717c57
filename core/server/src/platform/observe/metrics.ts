import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { readGauge } from './gauge.ts';
import { observeProcess } from './process-metrics.ts';

/** Labels are closed sets (route patterns, statuses, codes), never ids or client input. */
export interface Metrics {
  readonly registry: Registry;
  readonly httpSeconds: Histogram<'route' | 'method' | 'status'>;
  readonly refusals: Counter<'code'>;
  readonly databaseUp: Gauge;
  /** For a process that receives key-change notifications. */
  observeApiKeyInvalidation(isReceiving: () => boolean): void;
  observeLedgerHistory(isRolledBack: () => boolean): void;
  /** For a process that shares rate limits through Redis. */
  observeSharedLimits(limits: { readonly isShared: boolean; readonly fallbacks: number }): void;
  /** For a process that creates sessions. */
  observeFailing(count: () => number): void;
  observeDraining(isDraining: () => boolean): void;
  /** For a process that serves TLS itself. */
  observeCertificate(expiresAtMs: () => number): void;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  observeProcess(registry);
  return {
    registry,
    httpSeconds: new Histogram({
      name: 'svc_http_request_seconds',
      help: 'Duration of requests, by route, method and status.',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    }),
    refusals: new Counter({
      name: 'svc_http_refusals_total',
      help: 'Refused requests, by error code.',
      labelNames: ['code'],
      registers,
    }),
    databaseUp: new Gauge({
      name: 'svc_database_up',
      help: '1 if the database answered during this scrape.',
      registers,
    }),
    observeApiKeyInvalidation: (isReceiving) =>
      readGauge(registry, {
        name: 'svc_key_changes_heard',
        help: '1 while the process receives key-change notifications. If it stays 0, it cannot listen to the database, perhaps because of a pooler. Revocations still take effect within 5 s.',
        read: () => Number(isReceiving()),
      }),
    observeLedgerHistory: (isRolledBack) =>
      readGauge(registry, {
        name: 'svc_ledger_rolled_back',
        help: '1 while the process refuses a database that has lost ledger history.',
        read: () => Number(isRolledBack()),
      }),
    observeSharedLimits(limits) {
      readGauge(registry, {
        name: 'svc_rate_limits_shared',
        help: 'Only with REDIS_URL: 0 while Redis is unreachable. Each process then counts on its own, and customers notice nothing.',
        read: () => Number(limits.isShared),
      });
      const fallbacks: Counter = new Counter({
        name: 'svc_rate_limit_fallbacks_total',
        help: 'Only with REDIS_URL: requests that were counted in this process because Redis did not answer.',
        registers,
        collect() {
          fallbacks.reset();
          fallbacks.inc(limits.fallbacks);
        },
      });
    },
    observeFailing: (read) =>
      readGauge(registry, {
        name: 'svc_accounts_failing',
        help: 'Accounts with more failed sessions within an hour than FAILED_SESSIONS_PER_HOUR. The log names them. They are not refused.',
        read,
      }),
    observeDraining: (isDraining) =>
      readGauge(registry, {
        name: 'svc_draining',
        help: '1 while the process stops and takes no new work.',
        read: () => Number(isDraining()),
      }),
    observeCertificate: (expiresAtMs) =>
      readGauge(registry, {
        name: 'svc_certificate_expiry_timestamp_seconds',
        help: 'When the certificate in use expires, if the process serves TLS itself.',
        read: () => expiresAtMs() / 1000,
      }),
  };
}
