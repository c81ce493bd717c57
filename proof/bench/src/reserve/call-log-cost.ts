import { randomUUID } from 'node:crypto';
import { ownCpuMs } from '@svc-asr/eval/statistics.ts';
import { startCallLog } from '@svc-asr/server/accounts/logs/call-log.ts';
import { systemClock } from '@svc-asr/server/platform/clock.ts';
import { createLog } from '@svc-asr/server/platform/observe/log.ts';
import { createMetrics } from '@svc-asr/server/platform/observe/metrics.ts';
import type { TemporaryLedger } from '../temporary-ledger.ts';
import { cpuSecondsOf } from './cpu-time.ts';

/** A busy process writes as many in a second. */
const WRITTEN_TOGETHER = 1_000;

/**
 * Stores the calls of reservations in the call log and returns the CPU seconds of PostgreSQL and of the process. They
 * are too few to be seen as a difference between reservations with and without the log.
 */
export async function measureCallLog(
  ledger: TemporaryLedger,
  input: { postgres: number; calls: number; accountIds: readonly string[] },
): Promise<{ postgresSeconds: number; apiSeconds: number }> {
  const log = createLog({ level: 'silent' });
  let apiMs = 0;
  const postgresBefore = cpuSecondsOf(input.postgres);
  for (let written = 0; written < input.calls; written += WRITTEN_TOGETHER) {
    const { registry } = createMetrics();
    const calls = Array.from({ length: WRITTEN_TOGETHER }, (_, at) => ({
      accountId: input.accountIds[(written + at) % input.accountIds.length] ?? '',
      requestId: randomUUID(),
      method: 'POST',
      route: '/v1/asr/sessions',
      status: 201,
      code: null,
      detail: null,
      keyId: 'campaign0000',
      sessionId: randomUUID(),
      tookMs: 4.2,
    }));
    const beforeMs = ownCpuMs();
    const callLog = startCallLog({ db: ledger.service, clock: systemClock, registry, log });
    for (const call of calls) callLog.add(call);
    await callLog.stop();
    apiMs += ownCpuMs() - beforeMs;
  }
  const postgresSeconds = cpuSecondsOf(input.postgres) - postgresBefore;
  return { postgresSeconds, apiSeconds: apiMs / 1000 };
}
