import { mapConcurrently } from '@svc-asr/eval/concurrency.ts';
import type { AsrSession } from '@svc-asr/protocol';
import type { UtterancePlan } from '../engine/utterances.ts';
import { reserveSession, type Fleet } from './fleet.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Creates one session per plan, each in its own account. */
export async function openSessions(
  input: { fleet: Fleet; service: ServiceProcess },
  plans: readonly UtterancePlan[],
): Promise<AsrSession[]> {
  const tenants = await input.fleet.addTenants(plans.length, 300_000);
  const sessions: AsrSession[] = [];
  // Credentials expire after a minute, so they are created together and used at once.
  await mapConcurrently(tenants, 8, async (tenant, at) => {
    const model = plans[at]?.model ?? 'svc-asr-kikuyu-v1';
    const body = { model, max_audio_seconds: 300 };
    sessions[at] = await reserveSession(input.service.url, tenant, body);
  });
  return sessions;
}
