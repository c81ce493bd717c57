import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import { cpuMsOf } from '../engine/processor.ts';
import type { UtterancePlan } from '../engine/utterances.ts';
import type { Fleet } from './fleet.ts';
import type { Load } from './load.ts';
import { openSessions } from './sessions.ts';
import type { OurProtocol } from './wire-protocol.ts';

/** Sends all utterances as fast as the service takes them. Returns the CPU time of its processes, or of those named. */
export async function serviceCpuMs(
  bench: {
    readonly fleet: Fleet;
    readonly load: Load;
    readonly service: ServiceProcess;
    readonly pids?: readonly number[];
  },
  plans: readonly UtterancePlan[],
  protocol: OurProtocol,
): Promise<number> {
  const { load, service } = bench;
  const sessions = await openSessions(bench, plans);
  const { pids = [service.pid, ...service.children()] } = bench;
  const before = cpuMsOf(pids);
  const url = service.streamUrl;
  const answer = await load.run({ url, protocol, sessions, plans, speed: 0 });
  if (answer.broken > 0) throw new Error(`${answer.broken} streams broke.`);
  return cpuMsOf(pids) - before;
}
