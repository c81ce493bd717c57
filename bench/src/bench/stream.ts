import type { Campaign, CampaignOptions, CampaignResult } from '../campaign.ts';
import { Bare } from '../engine/bare.ts';
import { percentile } from '../engine/percentile.ts';
import { distinctUtterance, pcmOf, secondsOf } from '../engine/utterances.ts';
import { Fleet } from '../service/fleet.ts';
import { Load } from '../service/load.ts';
import { measureIdle, measureLive, type StreamBench } from '../service/stream-figures.ts';
import { cpuMsOf } from '../engine/processor.ts';
import { openSessions } from '../service/sessions.ts';

/** Audio seconds per CPU second of all server processes over real WebSockets, against the bare recogniser. */
const GOAL_RATIO = 0.8;
const STREAMS = 32;
const SENTENCES = 8;

export const campaign: Campaign = {
  about: 'streams over WebSockets against the bare recogniser; live streams held; idle memory',
  run,
};

async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const [bare, load, fleet] = await Promise.all([Bare.start(), Load.start(), Fleet.start()]);
  try {
    const service = await fleet.launch({ ENGINE_SLOTS_PER_CHILD: '5000' });
    const bench: StreamBench = { bare, load, fleet, service, log, short };
    const ratio = await measureRatio(bench);
    const live = await measureLive(bench);
    const kibPerIdle = await measureIdle(bench);
    const figures = { ratio, ...live, kib_per_idle_connection: kibPerIdle };
    return { passed: ratio >= GOAL_RATIO, figures };
  } finally {
    await fleet.stop();
    await load.stop();
    await bare.stop();
  }
}

/** In turns, so that what else the machine does weighs on both alike. */
async function measureRatio(bench: StreamBench): Promise<number> {
  const { bare, load, service, log, short } = bench;
  const plans = Array.from({ length: short ? 16 : STREAMS }, (_, at) =>
    distinctUtterance(at * 7, short ? 4 : SENTENCES),
  );
  const audioS = plans.reduce((sum, plan) => sum + secondsOf(pcmOf(plan)), 0);
  const ratios: number[] = [];
  // The first round warms both up and does not count.
  for (let round = 0; round < (short ? 2 : 8); round += 1) {
    const bareRate = audioS / ((await bare.recognise(plans.map((plan) => [plan]))).cpuMs / 1000);
    const sessions = await openSessions(bench, plans);
    const pids = [service.pid, ...service.children()];
    const before = cpuMsOf(pids);
    const answer = await load.run({
      url: service.streamUrl,
      dialect: 'ours',
      sessions,
      plans,
      speed: 0,
      frameMs: 100,
    });
    const rate = audioS / ((cpuMsOf(pids) - before) / 1000);
    if (answer.broken > 0) throw new Error(`${answer.broken} streams broke.`);
    if (round > 0) ratios.push(rate / bareRate);
    log(
      `bare ${bareRate.toFixed(0)}, service ${rate.toFixed(0)}, ratio ${(rate / bareRate).toFixed(3)}`,
    );
  }
  return Number(percentile(ratios, 0.5).toFixed(3));
}
