import type { Campaign, CampaignOptions, CampaignResult } from '../campaign.ts';
import { DEFAULT_LIMITS, Fleet } from '../service/fleet.ts';
import { measureLosses, MEASURED } from '../service/loss-campaign.ts';
import { recognisersLost, recognisersReady } from '../service/recognisers.ts';

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
    let victim: number | undefined;
    return await measureLosses({
      fleet,
      service,
      streams: short ? 8 : 40,
      faults: Number(args[0] ?? (short ? 2 : 200)),
      judgeLag: !short,
      async strike(fault) {
        // The older one, so that both are struck in turn.
        victim = service.children()[0];
        if (victim === undefined) throw new Error('No recogniser is running.');
        strikes += 1;
        process.kill(victim, fault === 'kill' ? 'SIGKILL' : 'SIGSTOP');
      },
      whole: () => recognisersReady(service, CHILDREN, victim),
      falseFailovers: () => recognisersLost(service) - strikes,
      log,
    });
  } finally {
    await fleet.stop();
  }
}
