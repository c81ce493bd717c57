import { setTimeout as sleep } from 'node:timers/promises';
import type { Campaign, CampaignOptions, CampaignResult } from '../campaign.ts';
import { DEFAULT_LIMITS, Fleet } from '../service/fleet.ts';
import { measureLosses, MEASURED } from '../service/loss-campaign.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

const CHILDREN = 2;

export const campaign: Campaign = {
  about: 'kill -9 and SIGSTOP of recogniser processes under live streams: no stream loses a word',
  run,
};

async function run({ short, args, log }: CampaignOptions): Promise<CampaignResult> {
  const fleet = await Fleet.start();
  try {
    const service = await fleet.launch({
      ...DEFAULT_LIMITS,
      ...MEASURED,
      ENGINE_CHILDREN: String(CHILDREN),
    });
    let strikes = 0;
    return await measureLosses({
      fleet,
      service,
      streams: short ? 8 : 40,
      faults: Number(args[0] ?? (short ? 2 : 200)),
      judgeLag: !short,
      async strike(fault) {
        // The older one: after the first fault it has every stream.
        const [victim] = service.children();
        if (victim === undefined) throw new Error('No recogniser is running.');
        strikes += 1;
        process.kill(victim, fault === 'kill' ? 'SIGKILL' : 'SIGSTOP');
      },
      whole: () => allChildrenReady(service),
      falseFailovers: () => count(service, 'child_gone') - strikes,
      log,
    });
  } finally {
    await fleet.stop();
  }
}

async function allChildrenReady(service: ServiceProcess): Promise<void> {
  while (
    count(service, 'child_ready') - count(service, 'child_gone') < CHILDREN ||
    service.children().length !== CHILDREN
  ) {
    await sleep(20);
  }
}

function count(service: ServiceProcess, notice: string): number {
  return service.lines.filter((line) => line.includes(`"${notice}"`)).length;
}
