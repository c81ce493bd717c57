import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Waits until this many recogniser processes are ready. `victim` doesn't count: the service may not have missed it yet. */
export async function recognisersReady(
  service: ServiceProcess,
  count: number,
  victim?: number,
): Promise<void> {
  for (;;) {
    const notices = service.lines.filter((line) => line.includes('"child_ready"'));
    const ready = new Set(notices.map((line) => Number(/"pid":(\d+)/.exec(line)?.[1])));
    const alive = service.children().filter((pid) => pid !== victim && ready.has(pid));
    if (alive.length >= count) return;
    await sleep(20);
  }
}

/** How many recognisers the service has lost. */
export function recognisersLost(service: ServiceProcess): number {
  return service.lines.filter((line) => line.includes('"child_gone"')).length;
}
