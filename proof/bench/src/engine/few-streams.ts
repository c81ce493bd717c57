import type { SherpaEngine } from '@svc-asr/engine';
import type { CampaignOptions } from '../campaign.ts';
import { bareSide, type Bare } from './bare.ts';
import { compareSides, planStreams, poolSide } from './throughput.ts';

/** Costly weights serve few streams. */
export const FEW_STREAMS = [1, 4] as const;

/** Audio seconds per CPU second of the pool against the bare recogniser, by number of streams. */
export async function compareFewStreams(
  { bare, engine, name }: { bare: Bare; engine: SherpaEngine; name: string },
  { short, log }: CampaignOptions,
): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  for (const streams of FEW_STREAMS) {
    const plans = planStreams({ streams, utterances: short ? 4 : 32, sentences: 3 });
    const sides = [bareSide(bare), poolSide(engine)];
    const [alone, pool] = await compareSides(sides, { plans, rounds: short ? 1 : 5 });
    if (alone === undefined || pool === undefined) throw new RangeError();
    figures[`${name}_ratio_${streams}`] = pool.ratio;
    log(
      `${name}, ${streams} streams: bare ${alone.rate.toFixed(1)}, ` +
        `pool ${pool.rate.toFixed(1)} audio s per CPU s, ratio ${pool.ratio.toFixed(3)}`,
    );
  }
  return figures;
}
