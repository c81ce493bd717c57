import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { startBare } from '../engine/bare.ts';
import { percentile } from '@svc-asr/eval/statistics.ts';
import { audioSeconds } from '../engine/throughput.ts';
import { distinctUtterance } from '../engine/utterances.ts';
import { Fleet } from '../service/fleet.ts';
import { startLoad } from '../service/load.ts';
import { measureServedWeights } from '../service/served-weights.ts';
import { measureIdle, measureLive, type StreamBench } from '../service/stream-figures.ts';
import { serviceCpuMs } from '../service/service-cpu.ts';
import { OUR_PROTOCOLS, type OurProtocol } from '../service/wire-protocol.ts';

/** Audio seconds per CPU second of all server processes over real WebSockets, against the bare recogniser. */
const GOAL_RATIO = 0.8;
const STREAMS = 32;
const SENTENCES = 8;

export const about =
  'WebSocket streams against the bare recogniser; number of live streams; idle memory';

export async function run(options: CampaignOptions): Promise<CampaignResult> {
  const { short, log } = options;
  const [flag, ...modelsDirs] = options.args;
  if (flag === '--models' && modelsDirs.length > 0) {
    return measureServedWeights(modelsDirs, options);
  }
  if (flag !== undefined) throw new RangeError('Usage: npm run bench -- stream [--models DIR...]');
  const [bare, load, fleet] = await Promise.all([startBare(), startLoad(), Fleet.start()]);
  try {
    const service = await fleet.launch({ ENGINE_SLOTS_PER_CHILD: '5000' });
    const bench: StreamBench = { bare, load, fleet, service, log, short };
    const ratios = await measureRatios(bench);
    const live = await measureLive(bench);
    const kibPerIdle = await measureIdle(bench);
    const figures = {
      ratio: ratios.ours,
      ratio_endpointing: ratios.oursEndpointing,
      ratio_confirmed: ratios.oursConfirmed,
      ...live,
      kib_per_idle_connection: kibPerIdle,
    };
    return { passed: ratios.ours >= GOAL_RATIO, figures };
  } finally {
    await fleet.stop();
    await load.stop();
    await bare.stop();
  }
}

/** Takes turns, so that other load on the machine affects all equally. */
async function measureRatios(bench: StreamBench): Promise<Record<OurProtocol, number>> {
  const { bare, log, short } = bench;
  const plans = Array.from({ length: short ? 16 : STREAMS }, (_, at) =>
    distinctUtterance(at * 7, short ? 4 : SENTENCES),
  );
  const audioS = audioSeconds([plans]);
  const ratios: Record<OurProtocol, number[]> = {
    ours: [],
    oursEndpointing: [],
    oursConfirmed: [],
  };
  // The first round is a warm-up.
  for (let round = 0; round < (short ? 2 : 8); round += 1) {
    const bareRate = audioS / ((await bare.run(plans.map((plan) => [plan]))).cpuMs / 1000);
    for (const protocol of OUR_PROTOCOLS) {
      const ratio = (1000 * audioS) / (await serviceCpuMs(bench, plans, protocol)) / bareRate;
      if (round > 0) ratios[protocol].push(ratio);
      log(`bare ${bareRate.toFixed(0)}, ${protocol} ratio ${ratio.toFixed(3)}`);
    }
  }
  return {
    ours: median(ratios.ours),
    oursEndpointing: median(ratios.oursEndpointing),
    oursConfirmed: median(ratios.oursConfirmed),
  };
}

function median(ratios: readonly number[]): number {
  return Number(percentile(ratios, 0.5).toFixed(3));
}
