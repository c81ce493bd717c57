import type { AsrSession } from '@svc-asr/protocol';
import type { UtterancePlan } from '../engine/utterances.ts';
import { reserveSession, type Fleet } from './fleet.ts';
import type { ServiceProcess } from './service-process.ts';

/** A session for each plan, each of an account of its own. */
export async function openSessions(
  input: { fleet: Fleet; service: ServiceProcess },
  plans: readonly UtterancePlan[],
): Promise<AsrSession[]> {
  const tenants = await input.fleet.addTenants(plans.length, 300_000);
  const sessions: AsrSession[] = [];
  for (const [at, tenant] of tenants.entries()) {
    const model = plans[at]?.model ?? 'svc-asr-kikuyu-v1';
    const session = await reserveSession(input.service.url, tenant, {
      model,
      max_audio_seconds: 300,
    });
    sessions.push(session);
  }
  return sessions;
}
